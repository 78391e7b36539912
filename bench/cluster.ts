// Benchmark of a whole cluster: start-up latency, rollout latency of workloads, and usage. Without a kubeconfig it
// starts the bundled `kruise up` in a temporary directory and stops it at the end.
//   node bench/cluster.ts [--kubeconfig FILE] [--nodes 10] [--pods 100,1000] [--only Deployment] [--idle SECONDS]
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { deployment } from '@kruise/api/apps/deployment';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import type { Client } from '@kruise/client/client';
import { connect } from '@kruise/client/connect';
import { isConditionTrue } from '@kruise/machinery/conditions';
import type { Kind } from '@kruise/schema/kind';
import { systemClock } from '@kruise/values/system';
import { useOf } from './process-use.ts';

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    nodes: { type: 'string', default: '10' },
    pods: { type: 'string', default: '100,1000' },
    idle: { type: 'string', default: '10' },
    only: { type: 'string', default: 'Deployment,CloneSet' },
  },
});
const idleMs = Number(values.idle) * 1000;
const sizes = values.pods.split(',').map(Number);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const seconds = (startMs: number) => `${((performance.now() - startMs) / 1000).toFixed(2)} s`;
console.log(`${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)} before anything was started`);

const bundler = new URL('../scripts/bundle.mjs', import.meta.url).href;

/** A cluster to measure; the pid is known if it was started here. */
type Cluster = { readonly client: Client; readonly pid?: number; stop(): Promise<void> };

async function started(nodes: number): Promise<Cluster & { readonly startMs: number }> {
  // The bundler is plain JavaScript without types, because it runs on any Node.js version.
  const { bundledCommand } = (await import(bundler)) as { bundledCommand(): Promise<string> };
  const command = await bundledCommand();
  const folder = mkdtempSync(join(tmpdir(), 'kruise-bench-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const startMs = performance.now();
  const args = [command, 'up', '--data', join(folder, 'data'), '--kubeconfig', kubeconfig, '--nodes', String(nodes)];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  while (!existsSync(join(folder, 'data', 'running.json'))) {
    if (child.exitCode !== null) throw new Error(`kruise up ended with ${child.exitCode}`);
    await pause(2);
  }
  const { client, close } = connect(systemClock, { path: kubeconfig });
  return {
    client,
    startMs,
    pid: child.pid!,
    async stop() {
      close();
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Polls until a condition holds. */
async function until(holds: () => Promise<boolean>, everyMs = 20): Promise<void> {
  for (;;) {
    try {
      if (await holds()) return;
    } catch {
      // The object does not exist yet.
    }
    await pause(everyMs);
  }
}

const readyNodes = async (client: Client) =>
  (await client.list(node)).items.filter(({ status }) => isConditionTrue(status?.conditions, 'Ready')).length;

const at = (name: string) => ({ name, namespace: 'default' });
const templateOf = (app: string, image: string) => ({
  metadata: { labels: { app } },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image }] },
});
const workloads = [
  { kind: deployment as Kind, name: 'web', more: {}, update: 'rolling update' },
  {
    kind: cloneSet as Kind,
    name: 'clones',
    more: { updateStrategy: { rollingUpdate: { podUpdatePolicy: 'InPlaceIfPossible', maxUnavailable: '100%' } } },
    update: 'update in place',
  },
];

type Counted = {
  readonly spec?: { readonly replicas?: number };
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly [name: string]: number };
};

async function isDone(client: Client, kind: Kind, name: string, replicas: number): Promise<boolean> {
  const { metadata, status = {} } = (await client.get(kind, at(name))) as unknown as Counted;
  return (
    status['observedGeneration'] === metadata.generation &&
    (status['availableReplicas'] ?? 0) >= replicas &&
    (status['updatedReplicas'] ?? 0) >= replicas &&
    (status['replicas'] ?? 0) === replicas
  );
}

async function make(client: Client, { kind, name, more }: (typeof workloads)[number], replicas: number): Promise<void> {
  const spec = {
    replicas,
    selector: { matchLabels: { app: name } },
    template: templateOf(name, 'nginx:1.25'),
    ...more,
  };
  // The spec matches the kind of the workload.
  await client.create(kind, { metadata: at(name), spec } as never);
  await until(() => isDone(client, kind, name, replicas));
}

async function idle(pid: number, pods: number): Promise<void> {
  await pause(idleMs / 2);
  const before = useOf(pid);
  await pause(idleMs);
  const after = useOf(pid);
  const share = (((after.cpuMs - before.cpuMs) / idleMs) * 100).toFixed(1);
  console.log(`at rest with ${pods} Pods: ${after.mib} MiB, ${share} % of a core`);
}

/** Measures the latency of `kubectl get nodes`. */
async function listNodes(client: Client): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 21; round++) {
    const startMs = performance.now();
    await client.list(node);
    times.push(performance.now() - startMs);
  }
  console.log(`all nodes listed: ${times.sort((a, b) => a - b)[10]!.toFixed(0)} ms (p50)`);
}

async function measure({ client, pid }: Cluster): Promise<void> {
  if (pid !== undefined) await idle(pid, 0);
  for (const replicas of sizes) {
    for (const workload of workloads.filter(({ kind }) => values.only.split(',').includes(kind.kind))) {
      const { kind, name } = workload;
      const cpuBefore = pid === undefined ? 0 : useOf(pid).cpuMs;
      const timed = async (what: string, work: () => Promise<void>) => {
        const startMs = performance.now();
        await work();
        const rate = (replicas / ((performance.now() - startMs) / 1000)).toFixed(0);
        console.log(`${kind.kind} of ${replicas}: ${what} ${seconds(startMs)}, ${rate} Pods/s`);
      };
      await timed('ready', () => make(client, workload, replicas));
      if (pid !== undefined) {
        const perPod = ((useOf(pid).cpuMs - cpuBefore) / replicas).toFixed(1);
        console.log(`  ${perPod} ms of processor time for each Pod`);
        if (replicas === Math.max(...sizes) && kind === deployment) await idle(pid, replicas);
      }
      await timed(workload.update, async () => {
        const patch = { spec: { template: templateOf(name, 'nginx:1.26') } };
        await client.patch(kind, at(name), patch, { type: 'merge' });
        await until(() => isDone(client, kind, name, replicas));
      });
      await timed('gone', async () => {
        await client.delete(kind, at(name), { propagationPolicy: 'Foreground' });
        await until(async () => (await client.list(pod, { namespace: 'default', limit: 1 })).items.length === 0);
      });
    }
  }
}

if (values.kubeconfig !== undefined) {
  const { client, close } = connect(systemClock, { path: values.kubeconfig });
  await measure({ client, stop: async () => close() });
  close();
} else {
  const cold = await started(3);
  await until(async () => (await readyNodes(cold.client)) === 3, 2);
  console.log(`from the command to three nodes ready: ${seconds(cold.startMs)}`);
  await make(cold.client, workloads[0]!, 3);
  console.log(`to a Deployment of three ready: ${seconds(cold.startMs)}`);
  await cold.stop();
  const cluster = await started(Number(values.nodes));
  await until(async () => (await readyNodes(cluster.client)) === Number(values.nodes));
  const { cpuMs, mib } = useOf(cluster.pid!);
  console.log(
    `${values.nodes} nodes ready: ${seconds(cluster.startMs)}, ${cpuMs / 1000} s of processor time, ${mib} MiB`,
  );
  try {
    await listNodes(cluster.client);
    await measure(cluster);
  } finally {
    await cluster.stop();
  }
}
