// Cost of the controller runtime. `node bench/client.ts [objects]`
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { patch } from '@kruise/client/actions';
import { createClient } from '@kruise/client/client';
import { defineController } from '@kruise/client/controller';
import { createCaches, startInformer } from '@kruise/client/informer';
import { runControllers } from '@kruise/client/manager';
import type { Transport, WatchEvent } from '@kruise/client/transport';
import { createWorkQueue } from '@kruise/client/work-queue';
import { systemClock, systemRandom } from '@kruise/values/system';

const objects = Number(process.argv[2] ?? 50_000);

/** Returns the CPU time so far in milliseconds, which excludes other processes. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function report(name: string, count: number, startMs: number): void {
  const tookMs = cpuMs() - startMs;
  const each = ((tookMs * 1000) / count).toFixed(2);
  console.log(`${name.padEnd(58)} ${each.padStart(8)} µs each ${tookMs.toFixed(0).padStart(7)} ms in all`);
}

const owner = (index: number) => ({
  apiVersion: 'v1',
  kind: 'Service',
  name: `s-${index % 1000}`,
  uid: `uid-${index % 1000}`,
  controller: true,
});
const objectAt = (index: number, version: number): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: `object-${index}`,
    namespace: `namespace-${index % 100}`,
    uid: `object-${index}`,
    resourceVersion: String(version),
    labels: { app: `app-${index % 50}` },
    ownerReferences: [owner(index)],
  },
  data: { value: String(version) },
});

/** Returns a fake server with fixed items and scripted watch events. */
function scripted(items: readonly ConfigMap[], events: AsyncIterable<WatchEvent>): Transport {
  return {
    request: async () => ({ code: 200, object: { metadata: { resourceVersion: '1000000' }, items }, warnings: [] }),
    watch: () => events,
  };
}

async function benchInformer(): Promise<void> {
  const items = Array.from({ length: objects }, (_, index) => objectAt(index, index + 1));
  const changes = Array.from({ length: 100_000 }, (_, index) => ({
    type: 'MODIFIED' as const,
    object: objectAt((index * 7919) % objects, 1_000_001 + index),
  }));
  let go = () => {};
  const started = new Promise<void>((resolve) => (go = resolve));
  const all = Promise.withResolvers<void>();
  const stop = new AbortController();
  async function* events(): AsyncGenerator<WatchEvent> {
    await started;
    yield* changes;
    await new Promise(() => {});
  }
  let startMs = cpuMs();
  const informer = startInformer(
    createClient(scripted(items, events())),
    systemClock,
    systemRandom,
    configMap,
    {},
    stop.signal,
  );
  await informer.synced;
  report(`informer: first list of ${objects}`, objects, startMs);

  startMs = cpuMs();
  informer.ownedBy({ metadata: { uid: 'uid-1' } });
  informer.list({ namespace: 'namespace-1' });
  report('store: two indexes built', objects, startMs);

  let heard = 0;
  informer.handle(({ cause }) => {
    if (cause === 'event' && ++heard === changes.length) all.resolve();
  });
  startMs = cpuMs();
  go();
  await all.promise;
  report('informer: an event, two indexes, one handler', changes.length, startMs);

  startMs = cpuMs();
  let found = 0;
  for (let index = 0; index < 200_000; index++)
    found += informer.get(`namespace-${index % 100}/object-${index % objects}`) ? 1 : 0;
  report('store: get', 200_000, startMs);
  startMs = cpuMs();
  for (let index = 0; index < 20_000; index++)
    found += informer.ownedBy({ metadata: { uid: `uid-${index % 1000}` } }).length;
  report(`store: ownedBy, ${objects / 1000} found`, 20_000, startMs);
  if (found === 0) throw new Error('nothing was found');
  stop.abort();
}

async function benchInProcess(): Promise<void> {
  const count = 10_000;
  await using server = await startTestServer({ freezeObjects: false });
  const stop = new AbortController();
  const caches = createCaches(server.client, systemClock, systemRandom, {}, stop.signal);
  const informers = Array.from({ length: 5 }, (_, index) =>
    caches.informer(configMap, index === 0 ? {} : { labelSelector: `app!=none-${index}` }),
  );
  await caches.synced();
  const written = Promise.withResolvers<void>();
  let seen = 0;
  for (const informer of informers) {
    informer.handle(({ cause }) => {
      if (cause === 'event' && ++seen === count * informers.length) written.resolve();
    });
  }
  const startMs = cpuMs();
  for (let index = 0; index < count; index += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, each) =>
        server.client.create(configMap, {
          metadata: { name: `c-${index + each}`, namespace: 'default' },
          data: { a: 'b' },
        }),
      ),
    );
  }
  await written.promise;
  report('API server in process: a write seen by five informers', count, startMs);
  stop.abort();
}

/** Measures a controller that labels every object: throughput, and the latency of a single reconcile. */
async function benchReconcile(): Promise<void> {
  const count = 5000;
  await using server = await startTestServer({ freezeObjects: false });
  const { client } = server;
  const stop = new AbortController();
  const mark = 'example.com/seen';
  const marker = defineController({
    name: 'marker',
    for: configMap,
    observe: (caches, key) => caches.of(configMap).get(key),
    decide(found) {
      const wanted = found.data?.['value'] ?? '';
      if (found.metadata.annotations?.[mark] === wanted) return { actions: [] };
      return { actions: [patch(found, { metadata: { annotations: { [mark]: wanted } } })] };
    },
  });
  const done = runControllers([marker], { client, clock: systemClock, random: systemRandom }, stop.signal);
  const informer = startInformer(client, systemClock, systemRandom, configMap, {}, stop.signal);
  await informer.synced;
  let marked = 0;
  let onMarked: (name: string) => void = () => {};
  informer.handle(({ object: { metadata, data } }) => {
    if (metadata.annotations?.[mark] === data?.['value']) onMarked(metadata.name ?? '');
  });
  const all = Promise.withResolvers<void>();
  onMarked = () => {
    if (++marked === count) all.resolve();
  };
  let startMs = performance.now();
  const cpu = cpuMs();
  for (let index = 0; index < count; index += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, each) =>
        client.create(configMap, {
          metadata: { name: `c-${index + each}`, namespace: 'default' },
          data: { value: '0' },
        }),
      ),
    );
  }
  await all.promise;
  report('controller: an object made, seen, decided on and marked', count, cpu);
  console.log(`${''.padEnd(58)} ${((count * 1000) / (performance.now() - startMs)).toFixed(0).padStart(8)} a second`);

  const took: number[] = [];
  for (let round = 0; round < 500; round++) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const name = `c-${round}`;
    onMarked = (each) => {
      if (each === name) resolve();
    };
    startMs = performance.now();
    await client.patch(configMap, { name, namespace: 'default' }, { data: { value: '1' } }, { type: 'merge' });
    await promise;
    took.push(performance.now() - startMs);
  }
  took.sort((a, b) => a - b);
  const at = (part: number) => `${took[Math.floor(took.length * part)]!.toFixed(2)} ms`;
  console.log(`${'controller: from a change to its answer'.padEnd(58)} p50 ${at(0.5)}, p99 ${at(0.99)}`);
  stop.abort();
  await done;
}

async function benchQueue(): Promise<void> {
  const keys = Array.from({ length: 200_000 }, (_, index) => `default/object-${index}`);
  const queue = createWorkQueue(systemClock);
  let startMs = cpuMs();
  for (const key of keys) queue.add(key);
  report('queue: add', keys.length, startMs);
  startMs = cpuMs();
  for (const key of keys) queue.add(key);
  report('queue: add what is there', keys.length, startMs);
  startMs = cpuMs();
  for (let index = 0; index < keys.length; index++) queue.done((await queue.get())!);
  report('queue: take and done', keys.length, startMs);
  startMs = cpuMs();
  for (const key of keys) queue.addAfter(key, 3_600_000);
  report('queue: addAfter', keys.length, startMs);
  const few = createWorkQueue(systemClock);
  startMs = cpuMs();
  for (let index = 0; index < 500_000; index++) {
    few.add(keys[index % 1000]!);
    if (index % 1000 === 999) for (let each = 0; each < 1000; each++) few.done((await few.get())!);
  }
  report('queue: add, take and done, a thousand keys over and over', 500_000, startMs);
  queue.shutDown();
}

/** Measures the CPU time of an import with a warm compile cache. */
function benchImport(): void {
  const cache = mkdtempSync(join(tmpdir(), 'kruise-bench-'));
  const code = (file: string) => `
    const before = process.cpuUsage();
    await import('@kruise/client/${file}');
    const { user, system } = process.cpuUsage(before);
    console.log((user + system) / 1000);`;
  const measure = (file: string, env: NodeJS.ProcessEnv) => {
    const times = Array.from({ length: 5 }, () => {
      const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code(file)], {
        cwd: new URL('..', import.meta.url),
        env: { ...process.env, ...env },
        encoding: 'utf8',
      });
      return Number(stdout);
    });
    return Math.min(...times).toFixed(0);
  };
  for (const file of ['informer', 'manager', 'webhook-server', 'run']) {
    const cached = measure(file, { NODE_COMPILE_CACHE: cache });
    console.log(
      `import ${file}: ${cached} ms; ${measure(file, { NODE_COMPILE_CACHE: '' })} ms from source, nothing cached`,
    );
  }
  rmSync(cache, { recursive: true });
}

await benchInformer();
await benchInProcess();
await benchReconcile();
await benchQueue();
benchImport();
