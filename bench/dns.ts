/**
 * Cluster DNS beside CoreDNS: the same API server, the same questions, the same upstream server.
 *
 *   node bench/dns.ts --coredns PATH [--questions 10000] [--services 400] [--seed 1]   compares the answers
 *   node bench/dns.ts --coredns PATH --load [--seconds 10] [--rounds 2]                  measures both with dnsperf
 *
 * Sections are compared as sets, without times to live and serial numbers. `--without-coredns` measures ours alone.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { namespace } from '@kruise/api/core/namespace';
import { service } from '@kruise/api/core/service';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import type { Client } from '@kruise/client/client';
import { connect } from '@kruise/client/connect';
import { createIfMissing } from '@kruise/client/create-if-missing';
import { describeResponse } from '@kruise/network/dns/testing/describe-response';
import { startTestUpstream } from '@kruise/network/dns/testing/upstream-server';
import { encodeQuestion, generateQuestion, generateWorld, type World } from '@kruise/network/dns/testing/world';
import { mapConcurrently } from '@kruise/values/map-concurrently';
import { pick, type Random, seededRandom } from '@kruise/values/random';
import { systemClock } from '@kruise/values/system';
import { useOf } from './process-use.ts';

const { values } = parseArgs({
  options: {
    coredns: { type: 'string' },
    questions: { type: 'string', default: '10000' },
    services: { type: 'string', default: '400' },
    seed: { type: 'string', default: '1' },
    load: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '2' },
    verbose: { type: 'boolean', default: false },
  },
});

const bundler = new URL('../scripts/bundle.mjs', import.meta.url).href;
const { bundledCommand } = (await import(bundler)) as { bundledCommand(): Promise<string> };
const command = await bundledCommand();
const folder = mkdtempSync(join(tmpdir(), 'kruise-dns-'));
const [data, kubeconfig] = [join(folder, 'data'), join(folder, 'kubeconfig')];
const children: ChildProcess[] = [];
const upstream = await startTestUpstream();
const random = seededRandom(values.seed);

type DnsServer = { readonly name: string; readonly port: number; readonly pid: number };

function run(name: string, program: string, ...args: readonly string[]): ChildProcess {
  const child = spawn(program, args, {
    stdio: ['ignore', values.verbose ? 'inherit' : 'ignore', values.verbose ? 'inherit' : 'ignore'],
  });
  child.once('exit', (code) => {
    if (code) console.error(`${name} ended with ${code}`);
  });
  children.push(child);
  return child;
}

/** Starts a program on one processor, so that the load generator has the other. */
const pinned = (name: string, program: string, ...args: readonly string[]) =>
  values.load ? run(name, 'taskset', '-c', '0', program, ...args) : run(name, program, ...args);

async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} is not ready`);
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/ready`)).ok;
  } catch {
    // Not listening yet.
    return false;
  }
}

/** Reports whether a server answers over UDP: CoreDNS reports that it is ready before it listens. */
async function isAnswering(server: DnsServer): Promise<boolean> {
  const { exchange, close } = await openUdp(server);
  const response = await exchange(encodeQuestion({ next: () => 0.99 }, 1, { name: 'cluster.local', type: 6 }), 200);
  close();
  return response !== undefined;
}

const domains = ['cluster.local', 'second.test'];
const base = 20_000 + Math.floor(Math.random() * 20_000);

async function startOurs(): Promise<DnsServer> {
  const child = pinned(
    'kruise dns',
    process.execPath,
    command,
    'dns',
    ...['--kubeconfig', kubeconfig, '--port', String(base), '--cluster-domain', domains.join(',')],
    ...['--upstream', `127.0.0.1:${upstream.port}`, '--ready-port', String(base + 1), '--lameduck', '0s'],
    ...['--health-port', '-1', '--metrics-port', '-1', '--cache', values.load ? '30s' : '0s'],
  );
  await until('kruise dns', () => isReady(base + 1));
  return { name: 'kruise dns', port: base, pid: child.pid! };
}

async function startCoreDns(program: string): Promise<DnsServer> {
  const [port, readyPort] = [base + 2, base + 3];
  const plugins = values.load ? `cache 30\n  prometheus :${base + 4}\n  loadbalance` : '';
  const corefile = join(folder, 'Corefile');
  writeFileSync(
    corefile,
    `.:${port} {
  errors
  ready :${readyPort}
  kubernetes ${domains.join(' ')} in-addr.arpa ip6.arpa {
    kubeconfig ${kubeconfig}
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
    ttl 30
  }
  ${plugins}
  forward . 127.0.0.1:${upstream.port} {
    max_concurrent 1000
  }
}
`,
  );
  const child = pinned('CoreDNS', program, '-conf', corefile);
  const server = { name: 'CoreDNS', port, pid: child.pid! };
  await until('CoreDNS', () => isReady(readyPort));
  await until('CoreDNS', () => isAnswering(server));
  return server;
}

async function createWorld(client: Client, world: World): Promise<World> {
  await mapConcurrently(world.namespaces, 16, (each) => createIfMissing(client, namespace, each));
  const services = await mapConcurrently(world.services, 16, (each) => client.create(service, each));
  const slices = await mapConcurrently(world.slices, 16, (each) => client.create(endpointSlice, each));
  return { ...world, services, slices };
}

type Exchange = (message: Buffer, timeoutMs?: number) => Promise<Buffer | undefined>;

/** Opens a socket for one server. Responses are matched by ID; a query without response resolves to undefined. */
async function openUdp({ port }: DnsServer): Promise<{ exchange: Exchange; close(): void }> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
  const pending = new Map<number, (message: Buffer) => void>();
  // For example "connection refused", before the server listens: the query times out.
  socket.on('error', () => {});
  socket.on('message', (message) => pending.get(message.readUInt16BE(0))?.(message));
  await new Promise<void>((resolve) => socket.connect(port, '127.0.0.1', resolve));
  return {
    exchange(message, timeoutMs = 2000) {
      const id = message.readUInt16BE(0);
      return new Promise((resolve) => {
        const timer = setTimeout(() => settle(undefined), timeoutMs);
        const settle = (response: Buffer | undefined) => {
          clearTimeout(timer);
          pending.delete(id);
          resolve(response);
        };
        pending.set(id, settle);
        socket.send(message);
      });
    },
    close: () => socket.close(),
  };
}

function exchangeTcp({ port }: DnsServer, message: Buffer): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const socket = connectTcp(port, '127.0.0.1');
    let received = Buffer.alloc(0);
    const timer = setTimeout(() => settle(undefined), 2000);
    const settle = (response: Buffer | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(response);
    };
    const prefix = Buffer.alloc(2);
    prefix.writeUInt16BE(message.length);
    socket.write(Buffer.concat([prefix, message]));
    socket.on('error', () => settle(undefined));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) settle(received.subarray(2));
    });
  });
}

/** Differences after which the comparison ends: the rest would be of the same kind. */
const maxDifferences = 20;

async function compare(
  servers: readonly DnsServer[],
  world: World,
  count: number,
  nextQuestion: () => Buffer,
): Promise<void> {
  const sockets = await Promise.all(servers.map(openUdp));
  const tally = { equal: 0, different: 0, truncated: 0, unanswered: 0 };
  const codes = new Map<string, number>();
  const window = 32;
  for (let done = 0; done < count && tally.different < maxDifferences; done += window) {
    const messages = Array.from({ length: Math.min(window, count - done) }, nextQuestion);
    await Promise.all(
      messages.map(async (message) => {
        const isTcp = random.next() < 0.1;
        const responses = await Promise.all(
          servers.map((server, index) => (isTcp ? exchangeTcp(server, message) : sockets[index]!.exchange(message))),
        );
        const [ours, theirs] = responses.map(describeResponse);
        if (theirs!.code === 'none') tally.unanswered++;
        codes.set(theirs!.code, (codes.get(theirs!.code) ?? 0) + 1);
        if (theirs!.isTruncated) tally.truncated++;
        if (ours!.text === theirs!.text) tally.equal++;
        else {
          tally.different++;
          if (tally.different <= maxDifferences) {
            console.log(
              `${describeQuery(message)} over ${isTcp ? 'TCP' : 'UDP'}\n--- ours\n${ours!.text}\n--- CoreDNS\n${theirs!.text}\n`,
            );
          }
        }
      }),
    );
  }
  for (const each of sockets) each.close();
  const byCode = [...codes].map(([code, number]) => `${number} ${code}`).join(', ');
  console.log(
    `${count} questions about ${world.services.length} Services: ${tally.equal} equal, ${tally.different} different`,
  );
  console.log(`${byCode}; ${tally.truncated} truncated (compared without their records)`);
  if (tally.different > 0) process.exitCode = 1;
}

function describeQuery(message: Buffer): string {
  return `query ${message.toString('hex')} (${message
    .subarray(12)
    .toString('latin1')
    .replaceAll(/[^\x20-\x7e]/g, '.')})`;
}

function questionOf(world: World): () => Buffer {
  let id = 0;
  return () => encodeQuestion(random, ++id & 0xffff, generateQuestion(random, world));
}

/** Creates a Service whose endpoint is this machine: its NS records name the servers. */
async function announceServers(client: Client, world: World): Promise<World> {
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const address = own.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  if (address === undefined) throw new Error('this machine has no address beside that of the loopback interface');
  const metadata = { name: 'dns-servers', namespace: 'kube-system' };
  const ports = [{ name: 'dns', port: 53, protocol: 'UDP' as const }];
  await client.create(service, { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } });
  await client.create(endpointSlice, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': metadata.name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address] }],
    ports,
  });
  // Both servers watch; neither reports what it has seen.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  return world;
}

/** Asks for the servers of the zones. */
function serverQuestion(): () => Buffer {
  let id = 0;
  return () => {
    const name = pick(random, ['', 'ns.dns.', 'dns-servers.kube-system.svc.']) + pick(random, domains);
    return encodeQuestion(random, ++id, { name, type: pick(random, [1, 2, 28, 6, 33, 16, 5, 12]) });
  };
}

/** Names of Services and the searches that precede other names; a mix of these and of forwarded names. */
type Mix = 'cluster' | 'mixed';

/** Writes the queries of a mix to a file for dnsperf. */
function writeQueries({ services }: World, mix: Mix, seed: Random): string {
  const lines = Array.from({ length: 20_000 }, () => {
    const { metadata } = services[Math.floor(seed.next() * services.length)]!;
    const other = `host-${Math.floor(seed.next() * 100)}.example.org`;
    const kind = seed.next();
    const type = seed.next() < 0.5 ? 'A' : 'AAAA';
    if (kind < 0.6) return `${metadata.name}.${metadata.namespace}.svc.cluster.local ${type}`;
    if (kind < 0.8) return `${other}.${metadata.namespace}.svc.cluster.local ${type}`;
    return mix === 'mixed' && kind < 0.9 ? `${other} ${type}` : `${other}.cluster.local ${type}`;
  });
  const file = join(folder, `queries-${mix}`);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

async function measure({ name, port, pid }: DnsServer, world: World, mix: Mix): Promise<void> {
  const seconds = Number(values.seconds);
  const file = writeQueries(world, mix, seededRandom(values.seed));
  // Not synchronously: the upstream server is in this process.
  const perform = async (...args: readonly string[]) => {
    const common = ['-s', '127.0.0.1', '-p', String(port), '-d', file, '-e'];
    const { stdout } = await promisify(execFile)('taskset', ['-c', '1', 'dnsperf', ...common, ...args], {
      maxBuffer: 1 << 30,
    });
    return stdout;
  };
  await perform('-l', '2');
  const before = useOf(pid);
  const text = await perform('-l', String(seconds), '-c', '8', '-q', '100');
  const after = useOf(pid);
  const qps = Number(/Queries per second:\s+([\d.]+)/.exec(text)?.[1]);
  const lost = /Queries lost:\s+(\d+)/.exec(text)?.[1];
  const cpuMs = after.cpuMs - before.cpuMs;
  const each = (1000 * cpuMs) / (qps * seconds);
  const share = (cpuMs / (10 * seconds)).toFixed(0);
  console.log(
    `${name}, ${mix}: ${Math.round(qps)} queries/s, ${lost} lost, ${share} % of a processor, ${each.toFixed(1)} µs a query, ${after.mib} MiB`,
  );
  const report = await perform('-l', String(Math.min(seconds, 5)), '-c', '8', '-Q', '5000', '-v');
  const latencies = [...report.matchAll(/^> \S+ \S+ \S+ ([\d.]+)$/gm)]
    .map(([, latency]) => 1e3 * Number(latency))
    .sort((a, b) => a - b);
  const at = (quantile: number) => (latencies[Math.floor(quantile * (latencies.length - 1))] ?? Number.NaN).toFixed(2);
  console.log(`  at 5000 queries/s: median ${at(0.5)} ms, p99 ${at(0.99)} ms (${latencies.length} responses)`);
}

try {
  run('API server', process.execPath, command, 'apiserver', '--memory', '--data', data, '--kubeconfig', kubeconfig);
  await until('the API server', () => existsSync(join(data, 'running.json')) && existsSync(kubeconfig));
  const { client, close } = connect(systemClock, { path: kubeconfig });
  const world = await createWorld(
    client,
    generateWorld(random, { count: Number(values.services), withAddresses: false }),
  );
  const ours = await startOurs();
  const theirs = values.coredns === undefined ? undefined : await startCoreDns(values.coredns);
  if (values.load) {
    if (spawnSync('dnsperf', ['-h']).error) throw new Error('dnsperf is not installed');
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const mix of ['cluster', 'mixed'] as const) {
        for (const server of [ours, theirs]) if (server) await measure(server, world, mix);
      }
    }
  } else {
    if (!theirs) throw new Error('--coredns is needed to compare with');
    await compare([ours, theirs], world, Number(values.questions), questionOf(world));
    await compare([ours, theirs], await announceServers(client, world), 200, serverQuestion());
  }
  close();
} finally {
  const ended = children.map(
    (each) => new Promise((resolve) => (each.exitCode === null ? each.once('exit', resolve) : resolve(0))),
  );
  for (const each of children) each.kill();
  await Promise.all(ended);
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
}
