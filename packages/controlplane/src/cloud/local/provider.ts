/**
 * Cloud provider for a cluster without a cloud: every node is its own instance, and load balancers are addresses from a
 * range that is routed to this machine. The address depends only on the name of the Service and on the allocated
 * addresses. A Service keeps its address for its whole life: its status is the only record of the allocation.
 */
import type { LoadBalancerStatus, Service } from '@kruise/api/core/service';
import { keyOf } from '@kruise/client/object-key';
import { fnv1a } from '@kruise/machinery/hash';
import {
  type Address,
  addressAt,
  contains,
  formatAddress,
  type Prefix,
  parseLegacyAddress,
  parseLegacyPrefix,
  prefixSize,
} from '@kruise/values/address';
import type { CloudProvider, Instances, LoadBalancers } from '../provider.ts';

export type LocalProviderOptions = {
  /** CIDRs from which load balancers get their addresses, at most one per IP family. */
  readonly addressRanges: readonly string[];
};

export function localProvider({ addressRanges }: LocalProviderOptions): CloudProvider {
  return { name: 'local', instances: localInstances, loadBalancers: localLoadBalancers(addressRanges) };
}

/** Every node that exists is an instance that exists. */
const localInstances: Instances = {
  exists: async () => true,
  isShutDown: async () => false,
  metadata: async ({ metadata }) => ({ providerId: `local://${metadata.name}` }),
};

export function localLoadBalancers(addressRanges: readonly string[]): LoadBalancers {
  const ranges = addressRanges.map(parseLegacyPrefix);
  /** UID of the Service that holds each address. */
  const allocatedTo = new Map<string, string>();

  const addressesOf = ({ status }: Service): readonly string[] =>
    (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  const familiesOf = ({ spec }: Service): readonly (4 | 6)[] =>
    (spec?.ipFamilies ?? ['IPv4']).map((family) => (family === 'IPv6' ? 6 : 4));
  const release = ({ metadata }: Service) => {
    for (const [address, uid] of allocatedTo) if (uid === metadata.uid) allocatedTo.delete(address);
  };

  /** Returns the address that the Service already has, requests, or is allocated. */
  function allocate(service: Service, family: 4 | 6, range: Prefix): string {
    const { uid = '' } = service.metadata;
    const isFree = (address: string) => (allocatedTo.get(address) ?? uid) === uid;
    const isUsable = (text: string) => {
      const address = parseLegacyAddress(text);
      return address?.family === family && contains(range, address);
    };
    const requested = service.spec?.loadBalancerIP;
    if (requested && parseLegacyAddress(requested)?.family === family) {
      if (!isUsable(requested)) throw new Error(`${requested} is not in the load balancer address range`);
      if (!isFree(requested)) throw new Error(`${requested} is already allocated to another Service`);
      return requested;
    }
    const present = addressesOf(service).find((address) => isUsable(address) && isFree(address));
    if (present) return present;
    for (const address of candidates(range, keyOf(service))) {
      const text = formatAddress(address);
      if (isFree(text)) return text;
    }
    throw new Error('the load balancer address range is exhausted');
  }

  return {
    restore(services) {
      for (const service of services) {
        if (service.spec?.type !== 'LoadBalancer') continue;
        for (const address of addressesOf(service)) allocatedTo.set(address, service.metadata.uid ?? '');
      }
    },
    async find(service) {
      const own = [...allocatedTo].filter(([, uid]) => uid === service.metadata.uid);
      return own.length > 0 ? statusOf(own.map(([address]) => address)) : undefined;
    },
    async ensure(service) {
      const chosen = familiesOf(service).flatMap((family) => {
        const range = ranges.find(({ address }) => address.family === family);
        return range ? [allocate(service, family, range)] : [];
      });
      if (chosen.length === 0) throw new Error('no load balancer address range matches an IP family of the Service');
      release(service);
      for (const address of chosen) allocatedTo.set(address, service.metadata.uid ?? '');
      return statusOf(chosen);
    },
    async updateNodes() {},
    async remove(service) {
      release(service);
    },
  };
}

function statusOf(addresses: readonly string[]): LoadBalancerStatus {
  return { ingress: addresses.map((ip) => ({ ip, ipMode: 'VIP' })) };
}

/** Yields all host addresses of a range, starting at an offset that depends on the name. */
function* candidates(range: Prefix, name: string): Generator<Address> {
  const size = prefixSize(range);
  // The first address is the network address, and the last IPv4 address is the broadcast address.
  const first = size > 2n ? 1n : 0n;
  const count = size > 2n ? (range.address.family === 4 ? size - 2n : size - 1n) : size;
  const start = BigInt(fnv1a(Buffer.from(name))) % count;
  const attempts = count < maxAttempts ? count : maxAttempts;
  for (let index = 0n; index < attempts; index++) yield addressAt(range, first + ((start + index) % count));
}

/** Upper bound for the search; a single machine never has this many load balancers. */
const maxAttempts = 65_536n;
