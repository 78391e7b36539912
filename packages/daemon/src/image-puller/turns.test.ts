import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from './turns.ts';

/** Work that ends when it is told to, and what has been begun of it. */
function works() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    end: (name: string) => ends.get(name)?.(),
    work: (name: string) => () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    },
  };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));
const { signal } = new AbortController();

test('so many are at work at a time, in the order in which they came', async () => {
  const { begun, end, work } = works();
  const inTurn = createTurns(2);
  for (const name of ['a', 'b', 'c', 'd']) void inTurn(work(name), signal);
  await turn();
  assert.deepEqual(begun, ['a', 'b']);
  end('b');
  // Whoever comes now is behind those that wait.
  void inTurn(work('e'), signal);
  await turn();
  assert.deepEqual(begun, ['a', 'b', 'c']);
  end('a');
  end('c');
  await turn();
  assert.deepEqual(begun, ['a', 'b', 'c', 'd', 'e']);
});

test('without a limit nobody waits', async () => {
  const { begun, work } = works();
  const inTurn = createTurns(Number.POSITIVE_INFINITY);
  for (const name of ['a', 'b', 'c']) void inTurn(work(name), signal);
  await turn();
  assert.deepEqual(begun, ['a', 'b', 'c']);
});

test('what is stopped while it waits is not begun, and keeps nobody waiting', async () => {
  const { begun, end, work } = works();
  const inTurn = createTurns(1);
  const stop = new AbortController();
  void inTurn(work('a'), signal);
  void inTurn(work('b'), stop.signal);
  void inTurn(work('c'), signal);
  stop.abort();
  end('a');
  await turn();
  end('a');
  await turn();
  assert.deepEqual(begun, ['a', 'c']);
});

test('a failure makes room, too', async () => {
  const { begun, work } = works();
  const inTurn = createTurns(1);
  await assert.rejects(inTurn(() => Promise.reject(new Error('no')), signal));
  void inTurn(work('a'), signal);
  await turn();
  assert.deepEqual(begun, ['a']);
});
