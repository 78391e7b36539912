import {
  addressAt,
  formatAddress,
  masked,
  offsetOf,
  parseAddress,
  parsePrefix,
  prefixSize,
} from '@kruise/values/address';

/** Addresses of a block, given out one after the other, so that one given back is not given again soon. */
export type AddressPool = {
  /** Undefined when all are taken. */
  take(): string | undefined;
  give(address: string): void;
  /** What can be given out, for error messages: `10.244.0.1-10.244.0.254`. */
  readonly range: string;
};

export function createAddressPool(cidr: string): AddressPool {
  const block = masked(parsePrefix(cidr));
  const size = prefixSize(block);
  // The block's own address, the bridge's (the first) and, where there is one, the broadcast address are not for Pods.
  const first = size > 2n ? 2n : 0n;
  const last = block.address.family === 4 && size > 2n ? size - 2n : size - 1n;
  const taken = new Set<bigint>();
  let next = first;
  const textAt = (offset: bigint) => formatAddress(addressAt(block, offset));
  return {
    take() {
      if (BigInt(taken.size) > last - first) return undefined;
      while (taken.has(next)) next = next === last ? first : next + 1n;
      const offset = next;
      taken.add(offset);
      next = offset === last ? first : offset + 1n;
      return textAt(offset);
    },
    give(address) {
      taken.delete(offsetOf(block, parseAddress(address)));
    },
    range: `${textAt(first > 0n ? first - 1n : first)}-${textAt(last)}`,
  };
}
