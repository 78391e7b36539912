/**
 * Sends mutated requests to a kubelet that listens on loopback: anonymously, as a tenant with few permissions, and as
 * an operator with all permissions. Reports responses, memory growth and the longest event loop delays.
 */
import { Agent, request as httpsRequest } from 'node:https';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { connect } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import type { Client } from '@kruise/client/client';
import { isPodReady } from '@kruise/machinery/pods';
import { createCertificateAuthority, type KeyPair } from '@kruise/machinery/x509/certificate';
import { type Random, seededRandom } from '@kruise/values/random';
import { startTestNode, type TestNode } from '../../testing/test-node.ts';
import { delegatedAccess } from '../access.ts';
import { listenKubelet } from '../listen.ts';
import { type FuzzRequest, mutatedRequest, rawBytes } from './mutate.ts';

export type FuzzReport = {
  readonly requests: number;
  /** Number of responses by status code; 0 counts connections that were closed without a response. */
  readonly codes: { readonly [code: string]: number };
  /** Requests that were answered with a status code of 500 or above. */
  readonly failures: readonly string[];
  /** Requests that succeeded without permission. */
  readonly breaches: readonly string[];
  /** Memory growth between the first tenth of the requests and the last request. */
  readonly growthBytes: number;
  /** Longest CPU time of an event loop iteration without a major garbage collection. */
  readonly longestHoldMs: number;
  /**
   * Longest CPU time of an event loop iteration with a major garbage collection, for the whole process including its
   * API server and clients.
   */
  readonly longestCollectionMs: number;
  readonly elapsedMs: number;
};

const callers = ['anonymous', 'tenant', 'operator'] as const;
type Caller = (typeof callers)[number];
const concurrency = 8;
const responseTimeoutMs = 2000;
const tickMs = 5;
const minIterationMs = 10;
/** Permissions of the tenant; everything else is forbidden. */
const tenantRights = ['nodes/metrics', 'nodes/stats', 'nodes/log', 'nodes/healthz'];
const tenantEndpoints = new Set(['metrics', 'stats', 'logs', 'healthz']);
/** Kubernetes answers these with 500, too: the object does not exist yet, or not any more. */
const allowedFailures = /container not found|pod not found|failed to exec in container/;

/** Fuzzes a kubelet of a test node. */
export async function fuzzKubelet({
  count,
  seed,
}: {
  readonly count: number;
  readonly seed: string;
}): Promise<FuzzReport> {
  await using node = await fuzzedNode();
  const stop = new AbortController();
  const now = Date.now();
  const authority = createCertificateAuthority('fuzz', now);
  const issue = (commonName: string, usage: 'server auth' | 'client auth') =>
    authority.issue({ subject: { commonName }, usages: [usage], hosts: ['127.0.0.1'], nowMs: now });
  const access = delegatedAccess(node.server.client, node.clock, 'node-1');
  const { port } = await listenKubelet(
    node.kubelet.handler,
    { host: '127.0.0.1', port: 0, ...issue('node-1', 'server auth'), clientAuthority: authority.certificate, access },
    stop.signal,
  );
  const pairs: { readonly [caller: string]: KeyPair | undefined } = {
    tenant: issue('tenant', 'client auth'),
    operator: issue('operator', 'client auth'),
  };
  const agents = new Map(callers.map((caller) => [caller, agentOf(pairs[caller], authority.certificate)]));

  const codes: { [code: string]: number } = {};
  const failures: string[] = [];
  const breaches: string[] = [];
  const heap = collectableHeap();
  let [sent, base] = [0, 0];
  const iterations = measureIterations();
  const startedAt = performance.now();

  async function work(random: Random): Promise<void> {
    while (sent < count) {
      if (sent++ === Math.floor(count / 10)) base = heap();
      const caller = callers[Math.floor(random.next() * callers.length)]!;
      const fuzzRequest = mutatedRequest(random);
      const { code, text } = fuzzRequest.isRaw
        ? await sendRaw(rawBytes(fuzzRequest, random), { port, ca: authority.certificate, pair: pairs[caller] })
        : await send(fuzzRequest, { port, agent: agents.get(caller)! });
      codes[code] = (codes[code] ?? 0) + 1;
      const shown = `${caller} ${fuzzRequest.method} ${JSON.stringify(fuzzRequest.target)} ${JSON.stringify(fuzzRequest.headers)}: ${code} ${text}`;
      if (code >= 500 && !(caller === 'operator' && allowedFailures.test(text))) failures.push(shown);
      if (isBreach(caller, fuzzRequest, code)) breaches.push(shown);
    }
  }

  const problems: unknown[] = [];
  const onProblem = (problem: unknown) => problems.push(problem);
  process.on('unhandledRejection', onProblem);
  process.on('uncaughtException', onProblem);
  try {
    await Promise.all(Array.from({ length: concurrency }, (_, index) => work(seededRandom(`${seed}-${index}`))));
  } finally {
    process.off('unhandledRejection', onProblem);
    process.off('uncaughtException', onProblem);
    for (const agent of agents.values()) agent.destroy();
    stop.abort();
  }
  for (const problem of problems) failures.push(`crash: ${String((problem as Error).stack ?? problem)}`);
  const elapsedMs = performance.now() - startedAt;
  const iterationStats = iterations();
  return { requests: count, codes, failures, breaches, growthBytes: heap() - base, ...iterationStats, elapsedMs };
}

async function fuzzedNode(): Promise<TestNode> {
  const node = await startTestNode();
  await node.create({
    containers: [{ name: 'c', image: 'busybox:1.36', command: ['sh', '-c', 'echo one; echo two; sleep infinity'] }],
  });
  await node.waitUntil('web', (pod) => pod !== undefined && isPodReady(pod));
  await node.runtime.files.makeDirectory('/var/log/deep');
  await node.runtime.files.writeFile('/var/log/deep/syslog', 'all is well');
  await grant(node.server.client, 'tenant', tenantRights);
  await grant(node.server.client, 'operator', [...tenantRights, 'nodes/proxy', 'nodes/checkpoint', 'nodes/configz']);
  return node;
}

async function grant(client: Client, name: string, resources: readonly string[]): Promise<void> {
  const verbs = name === 'operator' ? ['*'] : ['get'];
  await client.create(clusterRole, {
    metadata: { name },
    rules: [{ apiGroups: [''], resources: [...resources], verbs }],
  });
  await client.create(clusterRoleBinding, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  });
}

/** Reports whether a request succeeded without permission. */
function isBreach(caller: Caller, { target, isRaw }: FuzzRequest, code: number): boolean {
  if (code === 0 || code >= 400 || isRaw || caller === 'operator') return false;
  const [, first = ''] = /^\/([^/?]*)/.exec(target) ?? [];
  return caller === 'anonymous' || !tenantEndpoints.has(decodeURIComponent(first));
}

function agentOf(pair: KeyPair | undefined, ca: string): Agent {
  return new Agent({ keepAlive: true, maxSockets: concurrency, ca, ...tlsPair(pair) });
}

function tlsPair(pair: KeyPair | undefined) {
  return pair ? { cert: pair.certificate, key: pair.key } : {};
}

type FuzzResponse = { readonly code: number; readonly text: string };

function send(
  fuzzRequest: FuzzRequest,
  { port, agent }: { readonly port: number; readonly agent: Agent },
): Promise<FuzzResponse> {
  const { method, target, headers, body } = fuzzRequest;
  return new Promise((resolve) => {
    const end = (code: number, text = '') => {
      clearTimeout(timer);
      resolve({ code, text: text.slice(0, 200) });
    };
    // The client refuses to send an invalid request target.
    const path = target.replace(/[^\u0021-\u00ff]/g, (found) => encodeURIComponent(found)) || '/';
    const request = httpsRequest({ host: '127.0.0.1', port, agent, method, path, setHost: true }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += text.length < 200 ? chunk.toString('latin1') : ''));
      response.on('end', () => end(response.statusCode ?? 0, text));
      response.on('error', () => end(response.statusCode ?? 0, text));
      response.on('close', () => end(response.statusCode ?? 0, text));
    });
    const timer = setTimeout(() => request.destroy(), responseTimeoutMs);
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      end(response.statusCode ?? 0);
    });
    request.on('error', () => end(0));
    for (const [name, value] of headers) request.setHeader(name, value);
    request.end(body === '' ? undefined : body);
  });
}

type RawOptions = { readonly port: number; readonly ca: string; readonly pair: KeyPair | undefined };

/** Sends raw bytes, and returns the first line of the response. */
function sendRaw(bytes: Buffer, { port, ca, pair }: RawOptions): Promise<FuzzResponse> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host: '127.0.0.1', port, ca, ...tlsPair(pair) }, () => socket.end(bytes));
    const timer = setTimeout(() => socket.destroy(), responseTimeoutMs);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(timer);
      const code = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
      resolve({ code, text: text.slice(text.indexOf('\r\n\r\n') + 4, 400) });
    });
  });
}

type Iteration = { readonly cpuMs: number; readonly from: number; readonly to: number };

/** Measures the CPU time of event loop iterations; time of other processes does not count. */
function measureIterations() {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const iterations: Iteration[] = [];
  const collections: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const each of list.getEntries()) {
      // The type definitions omit the fields of garbage collection entries.
      const { detail } = each as PerformanceEntry & { readonly detail?: { readonly kind: number } };
      if (detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections.push(each);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  let [last, lastAt] = [cpuMs(), performance.now()];
  const timer = setInterval(() => {
    const [current, now] = [cpuMs(), performance.now()];
    if (current - last > minIterationMs) iterations.push({ cpuMs: current - last, from: lastAt, to: now });
    [last, lastAt] = [current, now];
  }, tickMs);
  const longest = (of: readonly Iteration[]) => of.reduce((most, each) => Math.max(most, each.cpuMs), minIterationMs);
  return () => {
    clearInterval(timer);
    observer.disconnect();
    const isCollecting = ({ from, to }: Iteration) =>
      collections.some(({ startTime, duration }) => startTime < to && startTime + duration > from);
    const { collecting = [], working = [] } = Object.groupBy(iterations, (each) =>
      isCollecting(each) ? 'collecting' : 'working',
    );
    return { longestHoldMs: longest(working), longestCollectionMs: longest(collecting) };
  };
}

/** Measures memory after a garbage collection. */
function collectableHeap(): () => number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
}
