/** Allocation of Pod CIDRs to nodes. */
import {
  addressAt,
  containsPrefix,
  formatPrefix,
  maskPrefix,
  offsetOf,
  overlaps,
  type Prefix,
  parseLegacyPrefix,
  prefixSize,
} from '@kruise/values/address';

/** A CIDR divided into blocks of equal size. */
export type BlockRange = {
  /** Allocates the next free block, round robin; undefined if none is free. */
  allocate(): Prefix | undefined;
  /** Marks the blocks that overlap a block as allocated; returns false if the block is outside of the range. */
  reserve(block: Prefix): boolean;
  release(block: Prefix): void;
};

/** Maximum number of blocks of a range: more nodes are not expected, and each block costs memory. */
const maxBlocks = 2 ** 16;

/** Creates a range whose blocks are all free. */
export function createBlockRange(range: Prefix, blockLength: number): BlockRange {
  const outer = maskPrefix(range);
  const count = Math.min(maxBlocks, 2 ** (blockLength - outer.length));
  const blockSize = prefixSize({ address: outer.address, length: blockLength });
  const allocated = new Uint8Array(count);
  let free = count;
  let next = 0;

  const set = (index: number, value: 0 | 1) => {
    if (allocated[index] === value) return;
    allocated[index] = value;
    free += value === 1 ? -1 : 1;
  };
  /** Returns the first and last index of the blocks that overlap a block. */
  const covered = (block: Prefix): readonly [number, number] | undefined => {
    if (block.address.family !== outer.address.family || !overlaps(outer, block)) return undefined;
    const inner = containsPrefix(outer, block) ? maskPrefix(block) : outer;
    const first = offsetOf(outer, inner.address) / blockSize;
    const last = (offsetOf(outer, inner.address) + prefixSize(inner) - 1n) / blockSize;
    return [Number(first), Math.min(count - 1, Number(last))];
  };
  const mark = (block: Prefix, value: 0 | 1): boolean => {
    const indexes = covered(block);
    if (!indexes) return false;
    for (let index = indexes[0]; index <= indexes[1]; index++) set(index, value);
    return true;
  };

  return {
    allocate() {
      if (free === 0) return undefined;
      while (allocated[next] === 1) next = (next + 1) % count;
      const index = next;
      set(index, 1);
      // A released block is not reused until the round robin reaches it again: Pods of its former node may still exist.
      next = (next + 1) % count;
      return { address: addressAt(outer, BigInt(index) * blockSize), length: blockLength };
    },
    reserve: (block) => mark(block, 1),
    release: (block) => void mark(block, 0),
  };
}

/** Blocks of each node. */
export type NodeRanges = {
  /** Records the blocks of a node. */
  reserve(name: string, blocks: readonly string[]): void;
  /** Returns the blocks of a node, the same ones until they are released; undefined if a range is exhausted. */
  blocksFor(name: string): readonly string[] | undefined;
  release(name: string): void;
};

/** Prefix length of a node's block per IP family. */
export type BlockLengths = { readonly 4?: number | undefined; readonly 6?: number | undefined };

export type NodeRangesOptions = {
  readonly clusterRanges: readonly string[];
  /** Service CIDRs, which are excluded from allocation. */
  readonly serviceRanges?: readonly string[] | undefined;
  readonly blockLengths?: BlockLengths | undefined;
};

const defaultBlockLengths = { 4: 24, 6: 64 } as const;

export function createNodeRanges({
  clusterRanges,
  serviceRanges = [],
  blockLengths = {},
}: NodeRangesOptions): NodeRanges {
  const ranges = clusterRanges.map((text) => {
    const range = parseLegacyPrefix(text);
    const { family } = range.address;
    return createBlockRange(range, Math.max(range.length, blockLengths[family] ?? defaultBlockLengths[family]));
  });
  for (const text of serviceRanges) for (const range of ranges) range.reserve(parseLegacyPrefix(text));
  const byNode = new Map<string, readonly string[]>();

  const releaseBlocks = (blocks: readonly string[]) => {
    for (const [index, block] of blocks.entries()) ranges[index]?.release(parseLegacyPrefix(block));
  };
  return {
    reserve(name, blocks) {
      const reserved = byNode.get(name);
      if (reserved === blocks || reserved?.join() === blocks.join()) return;
      if (reserved) releaseBlocks(reserved);
      for (const [index, block] of blocks.entries()) ranges[index]?.reserve(parseLegacyPrefix(block));
      byNode.set(name, blocks);
    },
    blocksFor(name) {
      const reserved = byNode.get(name);
      if (reserved) return reserved;
      const blocks: string[] = [];
      for (const range of ranges) {
        const block = range.allocate();
        if (!block) {
          releaseBlocks(blocks);
          return undefined;
        }
        blocks.push(formatPrefix(block));
      }
      byNode.set(name, blocks);
      return blocks;
    },
    release(name) {
      releaseBlocks(byNode.get(name) ?? []);
      byNode.delete(name);
    },
  };
}
