import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type BatchQueue, createBatchRunner, createFifoQueue, createRoundRobinQueue } from './batch-scheduler.ts';

type Request = { readonly flow?: string; readonly id: string };

/** Adds requests, and returns the ids of each batch. */
function batchesOf(queue: BatchQueue<Request>, requests: readonly Request[], limit: number): readonly string[] {
  const started: string[] = [];
  for (const request of requests) queue.add(request, () => started.push(request.id));
  const batches: string[] = [];
  for (let due = queue.next(limit); due.length > 0; due = queue.next(limit)) {
    for (const start of due) start();
    batches.push(started.splice(0).join(' '));
  }
  return batches;
}

const requestsOf = (text: string): readonly Request[] =>
  text.split(' ').map((id) => (id.startsWith('-') ? { id } : { flow: id[0]!, id }));

test('a first-in, first-out queue keeps the order', () => {
  assert.deepEqual(batchesOf(createFifoQueue(), requestsOf('a1 b1 a2 b2 a3'), 2), ['a1 b1', 'a2 b2', 'a3']);
});

const cases = [
  { name: 'flows take turns', requests: 'a1 a2 a3 a4 b1', batches: ['a1 b1', 'a2 a3', 'a4'] },
  { name: 'a single flow fills the batch', requests: 'a1 a2 a3', batches: ['a1 a2', 'a3'] },
  { name: 'a flow that was served moves to the end', requests: 'a1 a2 b1 c1', batches: ['a1 b1', 'c1 a2'] },
  { name: 'background work fills a batch', requests: 'a1 -1 -2 -3', batches: ['a1 -1', '-2 -3'] },
  { name: 'background work does not starve', requests: 'a1 b1 c1 d1 -1 -2', batches: ['a1 -1', 'b1 -2', 'c1 d1'] },
];
for (const { name, requests, batches } of cases) {
  test(`in a round-robin queue ${name}`, () => {
    const queue = createRoundRobinQueue<Request>(({ flow }) => flow, 1);
    assert.deepEqual(batchesOf(queue, requestsOf(requests), 2), batches);
  });
}

test('a batch runner returns to the event loop after each batch', async () => {
  const runLater = createBatchRunner(2);
  const ran: number[] = [];
  for (let task = 0; task < 5; task++) runLater(() => ran.push(task));
  const seen: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    seen.push(ran.length);
    await setImmediate();
  }
  assert.deepEqual(seen, [0, 2, 4, 5]);
  assert.deepEqual(ran, [0, 1, 2, 3, 4]);
});

test('a task that is added while a batch runs is not lost', async () => {
  const runLater = createBatchRunner(1);
  const ran: string[] = [];
  runLater(() => {
    ran.push('first');
    runLater(() => ran.push('second'));
  });
  await setImmediate();
  await setImmediate();
  assert.deepEqual(ran, ['first', 'second']);
});
