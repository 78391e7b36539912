// API server benchmark: start-up latency, idle usage, writes and reads by 1, 16 and 128 callers, lists of 10,000 Pods,
// and watch events to 1, 100 and 1,000 watchers. Measures any server of a kubeconfig, or a new one of ours:
//   node bench/apiserver.ts [--kubeconfig FILE [--pid N]…] [--pods 10000] [--json FILE] [--only idle|lists|requests|watches]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request as send } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadKubeconfig, resolveServer } from '@kruise/client/kubeconfig';
import { systemClock } from '@kruise/values/system';
import { useOf } from './process-use.ts';

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    pid: { type: 'string', multiple: true },
    pods: { type: 'string', default: '10000' },
    json: { type: 'string' },
    only: { type: 'string' },
    lister: { type: 'string' },
    encoding: { type: 'string', default: 'identity' },
  },
});
const concurrencies = [1, 16, 128];
const crowds = [1, 100, 1000];
const changes = 200;

type Row = { readonly what: string; readonly [figure: string]: string | number };
const rows: Row[] = [];
function report(row: Row): void {
  rows.push(row);
  const { what, ...figures } = row;
  const columns = Object.entries(figures).map(([name, figure]) => `${name} ${figure}`);
  console.log(`${what.padEnd(34)} ${columns.join(', ')}`);
}

const rounded = (figure: number, digits = 1) => Number(figure.toFixed(digits));

/** Returns the median and the 99th percentile of durations. */
function spread(durationsMs: readonly number[]): { readonly 'p50 ms': number; readonly 'p99 ms': number } {
  const sorted = durationsMs.toSorted((a, b) => a - b);
  const at = (part: number) => rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0, 2);
  return { 'p50 ms': at(0.5), 'p99 ms': at(0.99) };
}

type Place = { readonly kubeconfig: string; readonly pids: readonly number[]; stop(): Promise<void> };

async function startOurs(): Promise<Place> {
  const bundler = new URL('../scripts/bundle.mjs', import.meta.url).href;
  // The bundler is plain JavaScript without types, because it runs on any Node.js version.
  const { bundledCommand } = (await import(bundler)) as { bundledCommand(): Promise<string> };
  const command = await bundledCommand();
  const folder = mkdtempSync(join(tmpdir(), 'kruise-bench-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const startMs = performance.now();
  const args = [command, 'apiserver', '--data', join(folder, 'data'), '--kubeconfig', kubeconfig];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  while (!existsSync(kubeconfig)) {
    if (child.exitCode !== null) throw new Error(`kruise apiserver ended with ${child.exitCode}`);
    await pause(2);
  }
  const server = await reach(kubeconfig);
  while (!(await server.ask('GET', '/readyz').then(isGood, () => false))) await pause(2);
  report({ what: 'start to an authenticated /readyz', ms: rounded(performance.now() - startMs, 0) });
  server.close();
  return {
    kubeconfig,
    pids: [child.pid!],
    async stop() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Answer = { readonly code: number; readonly body: Buffer };
const isGood = ({ code }: Answer) => code < 300;

/** Connects to a server, with one connection per caller. */
async function reach(kubeconfig: string) {
  const { server, authorities, credentials } = resolveServer(loadKubeconfig({ path: kubeconfig }), {
    clock: systemClock,
  });
  const { authorization, certificate } = (await credentials?.current()) ?? {};
  const tls = { ca: authorities, cert: certificate?.certificate, key: certificate?.key };
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, ...tls });
  const identity = authorization === undefined ? {} : { authorization };
  const open = (method: string, path: string, body?: string, headers = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const content =
        body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const options = { method, agent, headers: { ...identity, ...content, ...headers } };
      send(new URL(path, server), options, resolve).on('error', reject).end(body);
    });
  return {
    open,
    async ask(method: string, path: string, body?: object, headers = {}): Promise<Answer> {
      const response = await open(method, path, body && JSON.stringify(body), headers);
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      return { code: response.statusCode ?? 0, body: Buffer.concat(chunks) };
    },
    close: () => agent.destroy(),
  };
}

const place: Place =
  values.kubeconfig === undefined
    ? await startOurs()
    : { kubeconfig: values.kubeconfig, pids: (values.pid ?? []).map(Number), stop: async () => {} };
const server = await reach(place.kubeconfig);
const memory = () => (place.pids.length === 0 ? {} : { MiB: place.pids.reduce((sum, pid) => sum + useOf(pid).mib, 0) });
const name = `bench-${process.pid}`;
const maps = `/api/v1/namespaces/${name}/configmaps`;
const pods = `/api/v1/namespaces/${name}/pods`;

async function must(method: string, path: string, body?: object, headers = {}): Promise<Answer> {
  const answer = await server.ask(method, path, body, headers);
  if (!isGood(answer)) throw new Error(`${method} ${path}: ${answer.code} ${answer.body.toString().slice(0, 300)}`);
  return answer;
}

/** Runs `count` operations with concurrent callers and returns their durations. */
async function together(callers: number, count: number, act: (index: number) => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  let next = 0;
  const call = async () => {
    for (let index = next++; index < count; index = next++) {
      const startMs = performance.now();
      await act(index);
      took.push(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return took;
}

async function measure(what: string, callers: number, count: number, act: (index: number) => Promise<unknown>) {
  const startMs = performance.now();
  const took = await together(callers, count, act);
  const perSecond = Math.round((count * 1000) / (performance.now() - startMs));
  report({ what: `${what}, ${callers} callers`, 'per second': perSecond, ...spread(took) });
}

const settings = (index: number, sequence: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `c-${index}` },
  data: { sequence: String(sequence), payload: 'x'.repeat(1024) },
});

async function measureIdle(): Promise<void> {
  if (place.pids.length === 0) return;
  await pause(20_000);
  const cpu = () => place.pids.reduce((sum, pid) => sum + useOf(pid).cpuMs, 0);
  const before = cpu();
  await pause(10_000);
  report({ what: 'idle', ...memory(), '% of a core': rounded((cpu() - before) / 100, 2) });
}

async function measureRequests(): Promise<void> {
  const merge = { 'content-type': 'application/merge-patch+json' };
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  for (const callers of concurrencies) {
    const count = Math.min(8000, 500 * callers);
    const at = (index: number) => `${maps}/c-${index}`;
    await measure('create', callers, count, (index) => must('POST', maps, settings(index, 0)));
    await measure('get', callers, count, (index) => must('GET', at(index)));
    await measure('update', callers, count, (index) => must('PUT', at(index), settings(index, 1)));
    await measure('merge patch', callers, count, (index) =>
      must('PATCH', at(index), { data: { sequence: '2' } }, merge),
    );
    await measure('server-side apply', callers, count, (index) =>
      must('PATCH', `${at(index)}?fieldManager=bench&force=true`, settings(index, 3), apply),
    );
    await measure('delete', callers, count, (index) => must('DELETE', at(index)));
  }
}

/** About 3 KiB on the wire, on a node without a kubelet. */
const podOf = (index: number) => {
  const container = (of: string) => ({
    name: of,
    image: `registry.local/shop/${of}:1.0.0`,
    args: ['--config=/etc/app/config.yaml', '--log-format=json'],
    env: Array.from({ length: 20 }, (_, number) => ({ name: `SETTING_${number}`, value: `value-of-${number}` })),
    resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '500m', memory: '128Mi' } },
    readinessProbe: { httpGet: { path: '/ready', port: 8080 } },
  });
  const spec = { nodeName: 'nobody', containers: [container('web'), container('proxy')] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: `p-${index}`, labels: { app: 'bench' } }, spec };
};

/** Measures the latency of a GET of one Pod while another process lists all Pods continuously. */
async function measureBeside(what: string, encoding: string | undefined): Promise<void> {
  const own = process.argv[1]!;
  const args = [own, '--kubeconfig', place.kubeconfig, '--lister', pods, '--encoding', encoding ?? ''];
  const lister = encoding === undefined ? undefined : spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 2] });
  if (lister) await once(lister.stdout!, 'data');
  const took: number[] = [];
  for (let count = 0; count < 1000; count++) {
    const startMs = performance.now();
    await must('GET', `${pods}/p-0`);
    took.push(performance.now() - startMs);
    await pause(2);
  }
  lister?.kill();
  report({ what: `get beside ${what}`, ...spread(took), 'max ms': rounded(Math.max(...took)) });
}

/** Lists continuously, once the first byte of the first list has arrived. The process of `measureBeside` runs this. */
async function listForever(path: string, encoding: string): Promise<never> {
  for (;;) {
    const response = await server.open('GET', path, undefined, { 'accept-encoding': encoding });
    response.once('data', () => process.stdout.write('.'));
    for await (const _ of response);
  }
}

async function measureLists(): Promise<void> {
  const count = Number(values.pods);
  report({ what: 'before any Pods', ...memory() });
  await measure(`create ${count} Pods`, 64, count, (index) => must('POST', pods, podOf(index)));
  await pause(30_000);
  report({ what: `with ${count} Pods, 30 s later`, ...memory() });
  const protobuf = { accept: 'application/vnd.kubernetes.protobuf' };
  const list = async (what: string, act: () => Promise<number>) => {
    let bytes = await act();
    const took = await together(1, 10, async () => {
      bytes = await act();
    });
    report({ what, ...spread(took), MiB: rounded(bytes / 2 ** 20) });
  };
  await list('list of all', async () => (await must('GET', pods)).body.length);
  const gzip = { 'accept-encoding': 'gzip' };
  await list('list of all, compressed', async () => (await must('GET', pods, undefined, gzip)).body.length);
  await measureBeside('nothing', undefined);
  await measureBeside('lists of all', 'identity');
  await measureBeside('compressed lists', 'gzip');
  await list('list in pages of 500', async () => {
    let bytes = 0;
    let token: string | undefined = '';
    while (token !== undefined) {
      const { body } = await must('GET', `${pods}?limit=500&continue=${encodeURIComponent(token)}`);
      bytes += body.length;
      // The metadata of a list precedes its items.
      token = /"continue":"([^"]+)"/.exec(body.subarray(0, 1000).toString())?.[1];
    }
    return bytes;
  });
  await list('list in protobuf', async () => (await must('GET', pods, undefined, protobuf)).body.length);
  await list('list of none of them', async () => (await must('GET', `${pods}?labelSelector=app=none`)).body.length);
  await measure(`delete ${count} Pods`, 64, count, (index) =>
    must('DELETE', `${pods}/p-${index}?gracePeriodSeconds=0`),
  );
}

/** Sends changes to many watchers, one after the other or twenty per second, and measures the delivery latency. */
async function measureWatches(watchers: number, isPaced: boolean): Promise<void> {
  const object = settings(0, 0);
  await must('POST', maps, object);
  const version = (JSON.parse((await must('GET', maps)).body.toString()) as { metadata: { resourceVersion: string } })
    .metadata.resourceVersion;
  const sentAt: number[] = [];
  const late: number[] = [];
  const streams: IncomingMessage[] = [];
  const heard = Promise.withResolvers<void>();
  await together(32, watchers, async () => {
    const stream = await server.open('GET', `${maps}?watch=true&resourceVersion=${version}`);
    streams.push(stream);
    let rest = '';
    stream.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const sequence = /"sequence":"(\d+)"/.exec(line)?.[1];
        late.push(performance.now() - sentAt[Number(sequence)]!);
      }
      if (late.length === watchers * changes) heard.resolve();
    });
    stream.on('error', () => {});
    stream.on('end', () => heard.reject(new Error('a watch was ended')));
  });
  const startMs = performance.now();
  for (let sequence = 1; sequence <= changes; sequence++) {
    sentAt[sequence] = performance.now();
    await must('PUT', `${maps}/c-0`, settings(0, sequence));
    if (isPaced) await pause(Math.max(0, startMs + sequence * 50 - performance.now()));
  }
  await heard.promise;
  const perSecond = Math.round((late.length * 1000) / (performance.now() - startMs));
  report({
    what: `${watchers} watchers, ${isPaced ? '20 changes a second' : 'burst'}`,
    'per second': perSecond,
    ...spread(late),
  });
  for (const stream of streams) stream.removeAllListeners('end').destroy();
  await must('DELETE', `${maps}/c-0`);
}

if (values.lister !== undefined) await listForever(values.lister, values.encoding);

try {
  await must('POST', '/api/v1/namespaces', { metadata: { name } });
  // Without controllers, nothing creates the default service account of Pods.
  await server.ask('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
  const parts: { readonly [part: string]: () => Promise<void> } = {
    idle: measureIdle,
    lists: measureLists,
    requests: measureRequests,
    async watches() {
      for (const watchers of crowds) {
        await measureWatches(watchers, true);
        await measureWatches(watchers, false);
      }
    },
  };
  for (const [part, run] of Object.entries(parts)) if (values.only === undefined || values.only === part) await run();
} finally {
  await server.ask('DELETE', `/api/v1/namespaces/${name}`).catch(() => undefined);
  server.close();
  await place.stop();
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, undefined, 2)}\n`);
