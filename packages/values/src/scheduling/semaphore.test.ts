import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSemaphore } from './semaphore.ts';

/** Returns work that ends on request, and a list of the started work. */
function works() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    end: (name: string) => ends.get(name)?.(),
    work: (name: string) => () => {
      started.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    },
  };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));
const { signal } = new AbortController();

test('concurrent work is limited, and starts in order of arrival', async () => {
  const { started, end, work } = works();
  const inTurn = createSemaphore(2);
  for (const name of ['a', 'b', 'c', 'd']) void inTurn(work(name), signal);
  await turn();
  assert.deepEqual(started, ['a', 'b']);
  end('b');
  // A later caller queues behind the waiting ones.
  void inTurn(work('e'), signal);
  await turn();
  assert.deepEqual(started, ['a', 'b', 'c']);
  end('a');
  end('c');
  await turn();
  assert.deepEqual(started, ['a', 'b', 'c', 'd', 'e']);
});

test('without a limit no work waits', async () => {
  const { started, work } = works();
  const inTurn = createSemaphore(Number.POSITIVE_INFINITY);
  for (const name of ['a', 'b', 'c']) void inTurn(work(name), signal);
  await turn();
  assert.deepEqual(started, ['a', 'b', 'c']);
});

test('work that is cancelled while it waits does not start, and blocks no other', async () => {
  const { started, end, work } = works();
  const inTurn = createSemaphore(1);
  const stop = new AbortController();
  void inTurn(work('a'), signal);
  void inTurn(work('b'), stop.signal);
  void inTurn(work('c'), signal);
  stop.abort();
  end('a');
  await turn();
  end('a');
  await turn();
  assert.deepEqual(started, ['a', 'c']);
});

test('a failure releases its permit', async () => {
  const { started, work } = works();
  const inTurn = createSemaphore(1);
  await assert.rejects(inTurn(() => Promise.reject(new Error('no')), signal));
  void inTurn(work('a'), signal);
  await turn();
  assert.deepEqual(started, ['a']);
});
