/**
 * A cloud for a cluster that has none: its nodes are their own machines, and its load balancers are addresses of a
 * range that is led to this machine. An address depends on nothing but the name of a Service and what is taken, and
 * stays with the Service as long as it lives: what is in its status is what it has.
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
  /** The ranges load balancers get their addresses from, one of each family at most. */
  readonly addressRanges: readonly string[];
};

export function localProvider({ addressRanges }: LocalProviderOptions): CloudProvider {
  return { name: 'local', instances: localInstances, loadBalancers: localLoadBalancers(addressRanges) };
}

/** Every node that is there is a machine that is there. */
const localInstances: Instances = {
  exists: async () => true,
  isShutDown: async () => false,
  metadata: async ({ metadata }) => ({ providerId: `local://${metadata.name}` }),
};

export function localLoadBalancers(addressRanges: readonly string[]): LoadBalancers {
  const ranges = addressRanges.map(parseLegacyPrefix);
  /** Who has each address, by uid. */
  const takenBy = new Map<string, string>();

  const addressesOf = ({ status }: Service): readonly string[] =>
    (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  const familiesOf = ({ spec }: Service): readonly (4 | 6)[] =>
    (spec?.ipFamilies ?? ['IPv4']).map((family) => (family === 'IPv6' ? 6 : 4));
  const release = ({ metadata }: Service) => {
    for (const [address, uid] of takenBy) if (uid === metadata.uid) takenBy.delete(address);
  };

  /** The address a Service has, asks for, or is given. */
  function choose(service: Service, family: 4 | 6, range: Prefix): string {
    const { uid = '' } = service.metadata;
    const isFree = (address: string) => (takenBy.get(address) ?? uid) === uid;
    const isUsable = (text: string) => {
      const address = parseLegacyAddress(text);
      return address?.family === family && contains(range, address);
    };
    const asked = service.spec?.loadBalancerIP;
    if (asked && parseLegacyAddress(asked)?.family === family) {
      if (!isUsable(asked)) throw new Error(`${asked} is not of the range of load balancers`);
      if (!isFree(asked)) throw new Error(`${asked} is taken by another Service`);
      return asked;
    }
    const present = addressesOf(service).find((address) => isUsable(address) && isFree(address));
    if (present) return present;
    for (const address of candidates(range, keyOf(service))) {
      const text = formatAddress(address);
      if (isFree(text)) return text;
    }
    throw new Error('every address of the range of load balancers is taken');
  }

  return {
    restore(services) {
      for (const service of services) {
        if (service.spec?.type !== 'LoadBalancer') continue;
        for (const address of addressesOf(service)) takenBy.set(address, service.metadata.uid ?? '');
      }
    },
    async find(service) {
      const own = [...takenBy].filter(([, uid]) => uid === service.metadata.uid);
      return own.length > 0 ? statusOf(own.map(([address]) => address)) : undefined;
    },
    async ensure(service) {
      const chosen = familiesOf(service).flatMap((family) => {
        const range = ranges.find(({ address }) => address.family === family);
        return range ? [choose(service, family, range)] : [];
      });
      if (chosen.length === 0) throw new Error('there is no range of addresses for any family of the Service');
      release(service);
      for (const address of chosen) takenBy.set(address, service.metadata.uid ?? '');
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

/** All addresses of a range that hosts can have, from one on that depends on a name. */
function* candidates(range: Prefix, name: string): Generator<Address> {
  const size = prefixSize(range);
  // The first address names the network, and the last one of IPv4 means everyone.
  const first = size > 2n ? 1n : 0n;
  const count = size > 2n ? (range.address.family === 4 ? size - 2n : size - 1n) : size;
  const start = BigInt(fnv1a(Buffer.from(name))) % count;
  const tries = count < maxTries ? count : maxTries;
  for (let index = 0n; index < tries; index++) yield addressAt(range, first + ((start + index) % count));
}

/** Nobody has this many load balancers on one machine. */
const maxTries = 65_536n;
