import {
  addressAt,
  formatAddress,
  maskPrefix,
  offsetOf,
  parseAddress,
  parsePrefix,
  prefixSize,
} from '@kruise/values/address';

/** Pool of the addresses of a CIDR block, allocated round-robin, so that a released address is not reused soon. */
export type AddressPool = {
  /** Allocates an address; undefined if the pool is exhausted. */
  allocate(): string | undefined;
  release(address: string): void;
  /** Range of allocatable addresses for error messages: `10.244.0.1-10.244.0.254`. */
  readonly range: string;
};

export function createAddressPool(cidr: string): AddressPool {
  const block = maskPrefix(parsePrefix(cidr));
  const size = prefixSize(block);
  // Not allocatable to Pods: the network address, the bridge's (the first one) and, for IPv4, the broadcast address.
  const first = size > 2n ? 2n : 0n;
  const last = block.address.family === 4 && size > 2n ? size - 2n : size - 1n;
  const taken = new Set<bigint>();
  let next = first;
  const textAt = (offset: bigint) => formatAddress(addressAt(block, offset));
  return {
    allocate() {
      if (BigInt(taken.size) > last - first) return undefined;
      while (taken.has(next)) next = next === last ? first : next + 1n;
      const offset = next;
      taken.add(offset);
      next = offset === last ? first : offset + 1n;
      return textAt(offset);
    },
    release(address) {
      taken.delete(offsetOf(block, parseAddress(address)));
    },
    range: `${textAt(first > 0n ? first - 1n : first)}-${textAt(last)}`,
  };
}
