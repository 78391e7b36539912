import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPrefix, parsePrefix } from '@kruise/values/address';
import fc from 'fast-check';
import { createBlockRange, createNodeRanges } from './allocator.ts';

const take = (range: ReturnType<typeof createBlockRange>) => {
  const block = range.allocate();
  return block && formatPrefix(block);
};

test('blocks are allocated in order, and released blocks are reused in round robin', () => {
  const range = createBlockRange(parsePrefix('10.0.0.0/22'), 24);
  assert.deepEqual([take(range), take(range)], ['10.0.0.0/24', '10.0.1.0/24']);
  range.release(parsePrefix('10.0.0.0/24'));
  assert.deepEqual(
    [take(range), take(range), take(range), take(range)],
    ['10.0.2.0/24', '10.0.3.0/24', '10.0.0.0/24', undefined],
  );
});

const occupied: readonly [block: string, left: readonly string[]][] = [
  ['10.0.1.0/24', ['10.0.0.0/24', '10.0.2.0/24', '10.0.3.0/24']],
  ['10.0.1.128/25', ['10.0.0.0/24', '10.0.2.0/24', '10.0.3.0/24']],
  ['10.0.2.0/23', ['10.0.0.0/24', '10.0.1.0/24']],
  ['10.0.0.0/8', []],
  ['192.168.0.0/16', ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24']],
  ['fd00::/64', ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24']],
];
for (const [block, left] of occupied) {
  test(`with ${block} allocated, ${left.length} of 4 blocks are free`, () => {
    const range = createBlockRange(parsePrefix('10.0.0.0/22'), 24);
    assert.equal(range.reserve(parsePrefix(block)), left.length < 4);
    assert.deepEqual(
      Array.from({ length: left.length + 1 }, () => take(range)),
      [...left, undefined],
    );
  });
}

test('a node has one block per family, the same for every request', () => {
  const ranges = createNodeRanges({ clusterRanges: ['10.0.0.0/16', 'fd00::/56'] });
  assert.deepEqual(ranges.blocksFor('a'), ['10.0.0.0/24', 'fd00::/64']);
  assert.deepEqual(ranges.blocksFor('b'), ['10.0.1.0/24', 'fd00:0:0:1::/64']);
  assert.deepEqual(ranges.blocksFor('a'), ['10.0.0.0/24', 'fd00::/64']);
});

test('an exhausted range leaves the other unchanged', () => {
  const ranges = createNodeRanges({ clusterRanges: ['10.0.0.0/16', 'fd00::/63'] });
  ranges.blocksFor('a');
  ranges.blocksFor('b');
  assert.equal(ranges.blocksFor('c'), undefined);
  ranges.release('a');
  assert.deepEqual(ranges.blocksFor('c'), ['10.0.3.0/24', 'fd00::/64']);
});

test('Service addresses are not allocated to nodes', () => {
  const ranges = createNodeRanges({ clusterRanges: ['10.0.0.0/22'], serviceRanges: ['10.0.0.0/23', 'fd00::/112'] });
  assert.deepEqual(ranges.blocksFor('a'), ['10.0.2.0/24']);
});

test('no two nodes ever share a block', () => {
  const step = fc.tuple(fc.constantFrom('ask', 'release'), fc.constantFrom('a', 'b', 'c', 'd', 'e'));
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const ranges = createNodeRanges({ clusterRanges: ['10.0.0.0/22'] });
      const given = new Map<string, string>();
      for (const [what, name] of steps) {
        if (what === 'release') {
          ranges.release(name);
          given.delete(name);
          continue;
        }
        const block = ranges.blocksFor(name)?.[0];
        assert.equal(block === undefined, !given.has(name) && given.size === 4);
        if (block) given.set(name, block);
      }
      assert.equal(new Set(given.values()).size, given.size);
    }),
  );
});
