import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapConcurrently } from './map-concurrently.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('results come in the order of the items, and no more are under way than allowed', async () => {
  let active = 0;
  let most = 0;
  const results = await mapConcurrently([3, 1, 2, 0], 2, async (turns, index) => {
    most = Math.max(most, ++active);
    for (let left = turns; left > 0; left--) await turn();
    active--;
    return `${index}: ${turns}`;
  });
  assert.deepEqual(results, ['0: 3', '1: 1', '2: 2', '3: 0']);
  assert.equal(most, 2);
});

test('a failure is thrown when the items in progress have ended, and no further item is started', async () => {
  const ended: number[] = [];
  const work = async (item: number) => {
    if (item === 0) throw new Error('broken');
    await turn();
    ended.push(item);
  };
  await assert.rejects(mapConcurrently([1, 0, 2, 3], 2, work), /broken/);
  assert.deepEqual(ended, [1]);
});

test('nothing comes of nothing', async () => {
  assert.deepEqual(await mapConcurrently([], 5, async () => assert.fail()), []);
});
