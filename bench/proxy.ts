/**
 * kube-proxy: full sync, one changed endpoint, rules, memory and CPU, against upstream kube-proxy in the same run.
 *
 *   node bench/proxy.ts [--services 10000] [--endpoints 10] [--upstream PATH] [--modes nftables,iptables]
 *     [--proxies kruise,upstream] [--limit SECONDS]
 *
 * Everything runs in a network namespace of its own, which is deleted at the end; needs Linux and root. The proxies read
 * the same objects from one `kruise apiserver`. Durations of syncs are those of the metric
 * `kubeproxy_sync_proxy_rules_duration_seconds` that both have; CPU includes nft and iptables-restore.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { node as nodeKind } from '@kruise/api/core/node';
import { service as serviceKind } from '@kruise/api/core/service';
import { type EndpointSlice, endpointSlice as sliceKind } from '@kruise/api/discovery/endpointslice';
import { connect } from '@kruise/client/connect';
import { mapConcurrently } from '@kruise/values/map-concurrently';
import { systemClock } from '@kruise/values/system';

const { values: flags } = parseArgs({
  options: {
    services: { type: 'string', default: '10000' },
    endpoints: { type: 'string', default: '10' },
    changes: { type: 'string', default: '7' },
    upstream: { type: 'string' },
    modes: { type: 'string', default: 'nftables,iptables' },
    port: { type: 'string', default: '26443' },
    proxies: { type: 'string', default: 'kruise,upstream' },
    /** A proxy that has not synced after this many seconds is given up. */
    limit: { type: 'string', default: '300' },
  },
});
const serviceCount = Number(flags.services);
const endpointCount = Number(flags.endpoints);
const changeCount = Number(flags.changes);
const modes = flags.modes.split(',');
const proxies = flags.proxies.split(',');
const limitMs = 1000 * Number(flags.limit);
const namespace = process.env['BENCH_PROXY_NAMESPACE'];
const kruise = fileURLToPath(new URL('../packages/cli/bin/kruise.mjs', import.meta.url));
const nodeName = 'bench-node';
const ticksPerSecond = 100;
const pageBytes = 4096;

/** Runs this program again in a network namespace. */
function runInNamespace(): void {
  const name = `kpb${process.pid.toString(36)}`;
  execFileSync('ip', ['netns', 'add', name]);
  try {
    execFileSync('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
    execFileSync('ip', ['netns', 'exec', name, process.execPath, ...process.argv.slice(1)], {
      stdio: 'inherit',
      env: { ...process.env, BENCH_PROXY_NAMESPACE: name },
    });
  } finally {
    // A proxy that was given up leaves the program that it was running.
    const left = execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8' }).split('\n');
    for (const pid of left) if (pid !== '') process.kill(Number(pid), 'SIGKILL');
    execFileSync('ip', ['netns', 'delete', name]);
  }
}

async function measure(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-proxy-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const serverArgs = ['apiserver', '--data', directory, '--memory', '--kubeconfig', kubeconfig];
  const server = spawn(process.execPath, [kruise, ...serverArgs, '--kubernetes-port', flags.port], { stdio: 'ignore' });
  try {
    const { client, close } = await connected(kubeconfig);
    try {
      const startedAtMs = systemClock.elapsedMs();
      await createObjects(client);
      console.log(
        `${serviceCount} Services with ${endpointCount} endpoints each, created in ${seconds(systemClock.elapsedMs() - startedAtMs)}`,
      );
      const { upstream } = flags;
      for (const mode of modes) {
        if (proxies.includes('kruise')) {
          report(await measureProxy(client, 'kruise proxy', mode, (port) => startKruise(kubeconfig, mode, port)));
        }
        if (upstream !== undefined && proxies.includes('upstream')) {
          report(
            await measureProxy(client, 'upstream', mode, (port) => startUpstream(upstream, kubeconfig, mode, port)),
          );
        }
      }
    } finally {
      close();
    }
  } finally {
    await ended(server);
    rmSync(directory, { recursive: true, force: true });
  }
}

function report(row: Row): void {
  console.log(
    Object.entries(row)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n  '),
  );
}

type Client = ReturnType<typeof connect>['client'];
type Row = Readonly<Record<string, string | number>>;

async function connected(kubeconfig: string) {
  for (;;) {
    try {
      const connection = connect(systemClock, { path: kubeconfig });
      await connection.client.list(nodeKind);
      return connection;
    } catch {
      // The server is not ready yet.
      await sleep(200);
    }
  }
}

const nameOf = (index: number) => `svc-${index}`;
const addressOf = (index: number, endpoint: number) =>
  `10.${128 + (index >> 12)}.${(index >> 4) & 255}.${((index & 15) << 4) + endpoint + 1}`;

function sliceOf(index: number): EndpointSlice {
  const name = nameOf(index);
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-1`, namespace: 'default', labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints: Array.from({ length: endpointCount }, (_, endpoint) => ({
      addresses: [addressOf(index, endpoint)],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: `node-${endpoint}`,
    })),
  };
}

async function createObjects(client: Client): Promise<void> {
  await client.create(nodeKind, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName },
    spec: { podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24'] },
  });
  await client.patch(
    nodeKind,
    { name: nodeName },
    { status: { addresses: [{ type: 'InternalIP', address: '172.20.0.2' }] } },
    { type: 'strategic', subresource: 'status' },
  );
  const indexes = Array.from({ length: serviceCount }, (_, index) => index);
  const create = async (index: number) => {
    await client.create(serviceKind, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: nameOf(index), namespace: 'default' },
      spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
    });
    await client.create(sliceKind, sliceOf(index));
  };
  await mapConcurrently(indexes, 64, create);
}

function startKruise(kubeconfig: string, mode: string, port: number): ChildProcess {
  return start(process.execPath, [kruise, 'proxy'], kubeconfig, mode, port);
}

function startUpstream(program: string, kubeconfig: string, mode: string, port: number): ChildProcess {
  return start(program, [], kubeconfig, mode, port);
}

function start(program: string, args: readonly string[], kubeconfig: string, mode: string, port: number): ChildProcess {
  const all = [
    ...args,
    '--kubeconfig',
    kubeconfig,
    '--proxy-mode',
    mode,
    '--hostname-override',
    nodeName,
    '--cluster-cidr',
    '10.128.0.0/9',
    '--healthz-bind-address',
    `127.0.0.1:${port + 1}`,
    '--metrics-bind-address',
    `127.0.0.1:${port}`,
    '--conntrack-max-per-core',
    '0',
    '--oom-score-adj',
    '0',
  ];
  return spawn(program, all, { stdio: ['ignore', 'ignore', process.env['DEBUG'] ? 'inherit' : 'ignore'] });
}

let nextPort = 20_000;
/** Every change has an address of its own; an update without a difference has no event. */
let lastAddress = 0;

async function measureProxy(
  client: Client,
  name: string,
  mode: string,
  run: (port: number) => ChildProcess,
): Promise<Row> {
  const port = nextPort;
  nextPort += 2;
  const beginMs = systemClock.elapsedMs();
  const child = run(port);
  let isSynced = false;
  try {
    const read = () => readSyncs(port);
    const first = await untilSynced(read, { count: 0, seconds: 0 }, limitMs);
    if (!first) return { proxy: `${name} (${mode})`, 'start to first sync': `more than ${flags.limit} s` };
    isSynced = true;
    const readyMs = systemClock.elapsedMs() - beginMs;
    const startCpu = cpuSeconds(child);
    const rules = countRules(mode);
    // The first syncs delete what is stale and read the ServiceCIDR; the changes begin after them.
    await sleep(4000);
    const changes: number[] = [];
    const cpus: number[] = [];
    for (let change = 0; change < changeCount; change++) {
      const before = await known(read);
      const cpuBefore = cpuSeconds(child);
      const index = (change * 997) % serviceCount;
      const { endpoints = [] } = sliceOf(index);
      const changed = [{ ...endpoints[0], addresses: [`192.0.2.${++lastAddress}`] }, ...endpoints.slice(1)];
      await client.patch(
        sliceKind,
        { name: `${nameOf(index)}-1`, namespace: 'default' },
        { endpoints: changed },
        { type: 'merge' },
      );
      const after = await untilSynced(read, before, limitMs);
      if (!after) throw new Error(`${name} has not synced a change after ${flags.limit} s`);
      changes.push((1000 * (after.seconds - before.seconds)) / Math.max(1, after.count - before.count));
      await sleep(1500);
      cpus.push(cpuSeconds(child) - cpuBefore);
    }
    return {
      proxy: `${name} (${mode})`,
      'start to first sync': seconds(readyMs),
      'full sync': seconds(1000 * first.seconds),
      'CPU until then': `${startCpu.toFixed(1)} s`,
      'one change': `${median(changes).toFixed(0)} ms`,
      'CPU of a change': `${(1000 * median(cpus)).toFixed(0)} ms`,
      'rules (or set elements)': rules,
      memory: `${(residentBytes(child) / 2 ** 20).toFixed(0)} MiB`,
    };
  } finally {
    await ended(child);
    if (isSynced) cleanUp();
  }
}

type Syncs = { readonly count: number; readonly seconds: number };

/** Reads number and duration of the syncs of IPv4 Services; without label of the family, of all. */
async function readSyncs(port: number): Promise<Syncs | undefined> {
  let text: string;
  try {
    text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  } catch {
    // The server is not ready yet.
    return undefined;
  }
  const total = (suffix: string) => {
    const pattern = new RegExp(`^kubeproxy_sync_proxy_rules_duration_seconds_${suffix}(\\{[^}]*\\})? (\\S+)$`, 'gm');
    const samples = [...text.matchAll(pattern)];
    const own = samples.filter(([, labels = '']) => !labels.includes('IPv6'));
    return own.reduce((sum, [, , value]) => sum + Number(value), 0);
  };
  return { count: total('count'), seconds: total('sum') };
}

/** Waits for another sync; undefined if there is none within the time. */
async function untilSynced(
  read: () => Promise<Syncs | undefined>,
  before: Syncs,
  withinMs: number,
): Promise<Syncs | undefined> {
  const untilMs = systemClock.elapsedMs() + withinMs;
  while (systemClock.elapsedMs() < untilMs) {
    const now = await read();
    if (now && now.count > before.count) return now;
    await sleep(20);
  }
  return undefined;
}

async function known(read: () => Promise<Syncs | undefined>): Promise<Syncs> {
  const found = await read();
  if (!found) throw new Error('the proxy serves no metrics');
  return found;
}

/** Returns the CPU time of a process and of the programs that it has run. */
function cpuSeconds({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0) / ticksPerSecond;
}

function residentBytes({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * pageBytes;
}

function countRules(mode: string): string {
  const options = { encoding: 'utf8', maxBuffer: 2 ** 30 } as const;
  if (mode === 'iptables') {
    return String(execFileSync('iptables-save', options).match(/^-A /gm)?.length ?? 0);
  }
  const text = execFileSync('nft', ['list', 'table', 'ip', 'kube-proxy'], options);
  const lines = text.match(/^\t\t(?!type |comment |elements |flags |size |\t)\S/gm)?.length ?? 0;
  return `${lines} (${text.match(/ : goto /g)?.length ?? 0})`;
}

function cleanUp(): void {
  execFileSync('nft', ['flush', 'ruleset']);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exit;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

if (namespace === undefined) runInNamespace();
else await measure();
