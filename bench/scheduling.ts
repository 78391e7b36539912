// Benchmark of the scheduling policies in one process: how much other work is done before the work that a client waits
// for, with each policy and without it. Counts work instead of time, so that the load of the machine has no influence.
//   node bench/scheduling.ts
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBackgroundScheduler } from '@kruise/apiserver/flow-control/background';
import { createWorkQueue } from '@kruise/client/work-queue';
import {
  type BatchQueue,
  createBatchRunner,
  createBatchScheduler,
  createFifoQueue,
  createRoundRobinQueue,
} from '@kruise/values/scheduling/batch-scheduler';
import { systemClock } from '@kruise/values/system';

type Row = { readonly policy: string; readonly measure: string; readonly with: number; readonly without: number };
const unlimited = Number.MAX_SAFE_INTEGER;

/** Returns the requests that are served before a socket is: one task makes 10,000 requests in sequence. */
async function servedBeforeSockets(batchSize: number): Promise<number> {
  const scheduler = createBatchScheduler(batchSize, createFifoQueue());
  let served = 0;
  let servedAtTurn = 0;
  const requests = (async () => {
    for (let request = 0; request < 10_000; request++) {
      const waiting = scheduler.acquire();
      if (waiting) await waiting;
      await Promise.resolve();
      served++;
    }
  })();
  await nextTurn().then(() => {
    servedAtTurn = served;
  });
  await requests;
  return servedAtTurn;
}

type Write = { readonly writer: string };

/** Returns the writes that are started before the last of ten writes of a small writer: another one has 1,000 waiting. */
async function startedBeforeSmallWriter(queue: BatchQueue<Write>): Promise<number> {
  const scheduler = createBatchScheduler<Write>(128, queue);
  let started = 0;
  const write = async (writer: string): Promise<number> => {
    await scheduler.acquire({ writer });
    return ++started;
  };
  const flood = Array.from({ length: 1000 }, () => write('large'));
  const small = await Promise.all(Array.from({ length: 10 }, () => write('small')));
  await Promise.all(flood);
  return Math.max(...small);
}

/** Returns the watchers that are served before a request is: an event has 1,000 watchers. */
async function servedBeforeRequest(batchSize: number): Promise<number> {
  const runLater = createBatchRunner(batchSize);
  let served = 0;
  for (let watcher = 0; watcher < 1000; watcher++) runLater(() => served++);
  await nextTurn();
  await Promise.resolve();
  return served;
}

/** Returns the events that are written before 1,000 foreground writes end: each causes seven events. */
async function eventsBeforeWrites(isScheduled: boolean): Promise<number> {
  const scheduler = createBackgroundScheduler(systemClock);
  let written = 0;
  const events: Promise<void>[] = [];
  const record = async (): Promise<void> => {
    const end = isScheduled ? await scheduler.beginBackground() : () => {};
    await nextTurn();
    written++;
    end();
  };
  const writers = Array.from({ length: 16 }, async () => {
    for (let write = 0; write < 1000 / 16; write++) {
      const end = scheduler.beginForeground();
      for (let event = 0; event < 7; event++) events.push(record());
      await nextTurn();
      end();
    }
  });
  await Promise.all(writers);
  const writtenBefore = written;
  await Promise.all(events);
  return writtenBefore;
}

/** Returns the keys that are processed before the key of an event: 10,000 keys of the initial list are queued. */
async function processedBeforeEvent(priority: 'change' | 'background'): Promise<number> {
  const queue = createWorkQueue(systemClock);
  for (let key = 0; key < 10_000; key++) queue.add(`default/web-${key}`, priority);
  queue.add('default/changed', 'change');
  for (let processed = 0; ; processed++) {
    const key = await queue.get();
    if (key === 'default/changed') return processed;
    queue.done(key!);
  }
}

const rows: readonly Row[] = [
  {
    policy: 'in-process requests, 128 for each turn',
    measure: 'requests before sockets are served',
    with: await servedBeforeSockets(128),
    without: await servedBeforeSockets(unlimited),
  },
  {
    policy: 'fair queueing between writers',
    measure: 'writes before the last of 10, behind 1,000',
    with: await startedBeforeSmallWriter(createRoundRobinQueue(({ writer }) => writer, 8)),
    without: await startedBeforeSmallWriter(createFifoQueue()),
  },
  {
    policy: 'watch fan-out, 100 watchers for each turn',
    measure: 'watchers before a request is served',
    with: await servedBeforeRequest(100),
    without: await servedBeforeRequest(unlimited),
  },
  {
    policy: 'background writes',
    measure: 'events before 1,000 other writes end',
    with: await eventsBeforeWrites(true),
    without: await eventsBeforeWrites(false),
  },
  {
    policy: 'priorities of a work queue',
    measure: 'keys before the key of an event',
    with: await processedBeforeEvent('background'),
    without: await processedBeforeEvent('change'),
  },
];
for (const row of rows) {
  console.log(
    `${row.policy.padEnd(42)} ${row.measure.padEnd(44)} ${String(row.with).padStart(6)} without ${String(row.without).padStart(6)}`,
  );
}
