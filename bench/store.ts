// Store benchmark: durable writes with several numbers of writers, a range, and the latency from a write to a watcher.
// Prints a table, then the same as JSON.
//   node bench/store.ts [--drivers memory,sqlite,etcd] [--seconds 3] [--bytes 3000] [--keys 10000]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { openEtcdStore } from '@kruise/apiserver/store/etcd';
import { findEtcd, startEtcd } from '@kruise/apiserver/store/etcd/server';
import { createMemoryStore } from '@kruise/apiserver/store/memory';
import { openSqliteStore } from '@kruise/apiserver/store/sqlite';
import type { Store } from '@kruise/apiserver/store/store';
import { systemClock } from '@kruise/values/system';

const { values: options } = parseArgs({
  options: {
    drivers: { type: 'string', default: 'memory,sqlite,etcd' },
    seconds: { type: 'string', default: '3' },
    bytes: { type: 'string', default: '3000' },
    keys: { type: 'string', default: '10000' },
  },
});
const durationMs = 1000 * Number(options.seconds);
const valueBytes = Number(options.bytes);
const keyCount = Number(options.keys);

type Opened = { readonly store: Store; close(): Promise<void> };

const drivers: Record<string, () => Promise<Opened | undefined>> = {
  async memory() {
    const store = createMemoryStore({ clock: systemClock });
    return { store, close: () => store.close() };
  },
  async sqlite() {
    const directory = mkdtempSync(join(tmpdir(), 'kruise-bench-'));
    const store = await openSqliteStore({ clock: systemClock, path: join(directory, 'store.db') });
    return {
      store,
      async close() {
        await store.close();
        rmSync(directory, { recursive: true });
      },
    };
  },
  async etcd() {
    const command = findEtcd();
    if (!command) return undefined;
    const server = await startEtcd(command);
    const store = openEtcdStore({ clock: systemClock, endpoints: [server.endpoint] });
    return {
      store,
      async close() {
        await store.close();
        await server.dispose();
      },
    };
  },
};

type Row = { readonly driver: string; readonly case: string } & Readonly<Record<string, number | string>>;

const rows: Row[] = [];
for (const driver of options.drivers.split(',')) {
  for (const writers of [1, 16, 128]) {
    await measure(driver, `write, ${writers} at once`, (store) => measureWrites(store, writers));
  }
  await measure(driver, `range of ${keyCount}`, measureRange);
  await measure(driver, 'write to watcher', measureWatch);
}
console.table(rows);
console.log(JSON.stringify(rows));

async function measure(
  driver: string,
  name: string,
  work: (store: Store) => Promise<Record<string, number>>,
): Promise<void> {
  const opened = await drivers[driver]?.();
  if (!opened) {
    console.error(`${driver}: not available`);
    return;
  }
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const result = await work(opened.store);
  const { user, system } = process.cpuUsage(cpu);
  delay.disable();
  rows.push({
    driver,
    case: name,
    ...Object.fromEntries(Object.entries(result).map(([key, value]) => [key, rounded(value)])),
    cpuSeconds: rounded((user + system) / 1e6),
    loopDelayP99Ms: rounded(delay.percentile(99) / 1e6),
    loopDelayMaxMs: rounded(delay.max / 1e6),
  });
  await opened.close();
}

/**
 * Each writer creates an object, updates it four times and continues with the next, as fast as writes are acknowledged.
 */
async function measureWrites(store: Store, writers: number): Promise<Record<string, number>> {
  const value = Buffer.alloc(valueBytes, '{"kind":"Pod"}');
  const latencies: number[] = [];
  const startMs = performance.now();
  const endMs = startMs + durationMs;
  const write = async (writer: number) => {
    for (let object = 0; performance.now() < endMs; object++) {
      const key = `/registry/pods/namespace-${writer}/object-${object}`;
      for (let update = 0, expected = 0; update < 5; update++) {
        const sentMs = performance.now();
        const result = await store.write({ key, expected, value });
        if (!result.ok) throw new Error(`${key} was written by another`);
        latencies.push(performance.now() - sentMs);
        expected = result.revision;
      }
      // The memory store responds without yielding to the event loop.
      if (object % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  const elapsedSeconds = (performance.now() - startMs) / 1000;
  return { perSecond: latencies.length / elapsedSeconds, ...percentiles(latencies) };
}

async function measureRange(store: Store): Promise<Record<string, number>> {
  const value = Buffer.alloc(valueBytes, '{"kind":"Pod"}');
  const keys = Array.from({ length: keyCount }, (_, index) => `/registry/pods/default/${index}`);
  // etcd rejects more than 5,000 operations per transaction.
  while (keys.length > 0) {
    await Promise.all(keys.splice(0, 500).map((key) => store.write({ key, expected: 0, value })));
  }
  const latencies: number[] = [];
  for (let round = 0; round < 5; round++) {
    const sentMs = performance.now();
    const { entries } = await store.range({ prefix: '/registry/pods/' });
    if (entries.length !== keyCount) throw new Error(`${entries.length} of ${keyCount} keys were read`);
    latencies.push(performance.now() - sentMs);
  }
  return percentiles(latencies);
}

/** Writes one after the other; the latency is from the request to its watch event. */
async function measureWatch(store: Store): Promise<Record<string, number>> {
  const value = Buffer.alloc(valueBytes, '{"kind":"Pod"}');
  const controller = new AbortController();
  const afterRevision = await store.currentRevision();
  const watch = store.watch({ prefix: '/registry/', afterRevision, signal: controller.signal })[Symbol.asyncIterator]();
  const latencies: number[] = [];
  const lags: number[] = [];
  const endMs = performance.now() + durationMs;
  for (let index = 0; performance.now() < endMs; index++) {
    const sentMs = performance.now();
    let acknowledgedMs = 0;
    const writing = store.write({ key: `/registry/pods/default/${index}`, expected: 0, value }).then(() => {
      acknowledgedMs = performance.now();
    });
    const { value: batch } = await watch.next();
    const seenMs = performance.now();
    if (batch?.events.length !== 1) throw new Error('one write makes one event');
    await writing;
    latencies.push(seenMs - sentMs);
    lags.push(seenMs - acknowledgedMs);
    if (index % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
  }
  controller.abort();
  return { ...percentiles(latencies), afterAcknowledgementP50Ms: percentiles(lags)['p50Ms']! };
}

function percentiles(values: readonly number[]): Record<string, number> {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
