import type { ServiceCIDR } from '@kruise/api/networking/servicecidr';
import { uuid } from '@kruise/machinery/uuid';
import {
  type Address,
  addressAt,
  contains,
  formatAddress,
  maskPrefix,
  offsetOf,
  type Prefix,
  parseLegacyAddress,
  parsePrefix,
  prefixSize,
  unmap,
} from '@kruise/values/address';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { formatTime } from '@kruise/values/time';
import type { KubeObject } from '../object.ts';
import type { ObjectStorage } from '../objects/object-storage.ts';
import { inRandomOrder, reservedBand } from './band.ts';

export type Family = 'IPv4' | 'IPv6';

/** Service that owns an allocation. */
export type Owner = { readonly namespace: string; readonly name: string };

/** Error: an address or port cannot be allocated. The message is returned to the client. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** Allocator of cluster IPs. */
export interface ClusterIPs {
  /** Allocates one address; throws `Unavailable`. */
  allocate(address: string, owner: Owner): Promise<void>;
  /** Allocates any address of a family. */
  allocateAny(family: Family, owner: Owner): Promise<string>;
  /** Checks an address without allocating it. */
  checkAvailable(address: string): void;
  findAvailable(family: Family): string;
  release(address: string, owner: Owner): Promise<void>;
}

type Options = {
  readonly addresses: ObjectStorage;
  readonly ranges: ObjectStorage;
  /** Ranges from the server's flags, which exist before any ServiceCIDR object. */
  readonly configured: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
};

const managedBy = { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' };
const familyLabel = 'ipaddress.kubernetes.io/ip-family';
const bounds = { min: 16, max: 256 };
/** Maximum number of offsets used of a range; larger ranges are truncated to this size. */
const mostOffsets = 2 ** 31;

export function createClusterIPs({ addresses, ranges, configured, clock, random }: Options): ClusterIPs {
  const initial = configured.map((text) => parsePrefix(text));

  function* prefixes(): Generator<Prefix> {
    yield* initial;
    for (const { object } of ranges.cache.list({ keyPrefix: ranges.prefix })) {
      const { spec, status, metadata } = object as unknown as ServiceCIDR;
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      if (metadata.deletionTimestamp || (ready && ready.status !== 'True')) continue;
      for (const text of spec?.cidrs ?? []) if (!configured.includes(text)) yield parsePrefix(text);
    }
  }

  const keyOf = (address: Address) => addresses.keyOf(undefined, formatAddress(address));

  function checked(text: string): Address {
    const parsed = parseLegacyAddress(text);
    if (!parsed) throw new Unavailable(`${text} is not an address`);
    const address = unmap(parsed);
    // The network address, and for IPv4 the broadcast address, are never allocated.
    const isInRange = prefixes().some((prefix) => contains(prefix, address) && isUsable(prefix, address));
    if (!isInRange) throw new Unavailable('the provided network does not match the current range');
    return address;
  }

  async function write(address: Address, { namespace, name }: Owner): Promise<boolean> {
    const text = formatAddress(address);
    const object: KubeObject = {
      kind: 'IPAddress',
      apiVersion: 'networking.k8s.io/v1',
      metadata: {
        name: text,
        uid: uuid(random),
        creationTimestamp: formatTime(clock.now()),
        labels: { [familyLabel]: address.family === 4 ? 'IPv4' : 'IPv6', ...managedBy },
      },
      spec: { parentRef: { resource: 'services', namespace, name } },
    };
    return (await addresses.create(keyOf(address), object)).ok;
  }

  /** Yields addresses that are free according to this server's cache. */
  function* candidates(family: Family): Generator<Address> {
    for (const range of prefixes()) {
      if (range.address.family !== (family === 'IPv4' ? 4 : 6)) continue;
      const { first, last } = usable(range);
      const size = Number(last - first + 1n < BigInt(mostOffsets) ? last - first + 1n : BigInt(mostOffsets));
      for (const offset of inRandomOrder(random, size, reservedBand(size, 16, bounds))) {
        const address = addressAt(maskPrefix(range), first + BigInt(offset));
        if (!addresses.cache.get(keyOf(address))) yield address;
      }
    }
  }

  const full = () => new Unavailable('range is full');

  return {
    async allocate(text, owner) {
      if (!(await write(checked(text), owner))) throw alreadyAllocated();
    },
    async allocateAny(family, owner) {
      for (const address of candidates(family)) if (await write(address, owner)) return formatAddress(address);
      throw full();
    },
    checkAvailable(text) {
      if (addresses.cache.get(keyOf(checked(text)))) throw alreadyAllocated();
    },
    findAvailable(family) {
      for (const address of candidates(family)) return formatAddress(address);
      throw full();
    },
    async release(text, { namespace, name }) {
      const parsed = parseLegacyAddress(text);
      if (!parsed) return;
      let seen = addresses.cache.get(keyOf(unmap(parsed)));
      while (seen) {
        const { parentRef } = seen.object.spec as { readonly parentRef?: Owner };
        if (parentRef?.namespace !== namespace || parentRef.name !== name) return;
        const removed = await addresses.remove(seen);
        if (removed.ok) return;
        seen = removed.current;
      }
    },
  };
}

function alreadyAllocated(): Unavailable {
  return new Unavailable('provided IP is already allocated');
}

/** The first address is the network address, and for IPv4 the last is the broadcast address. */
function isUsable(range: Prefix, address: Address): boolean {
  const offset = offsetOf(range, address);
  const { first, last } = usable(range);
  return offset >= first && offset <= last;
}

function usable(range: Prefix): { readonly first: bigint; readonly last: bigint } {
  const size = prefixSize(range);
  return { first: 1n, last: range.address.family === 4 ? size - 2n : size - 1n };
}
