// CloneSet benchmark: scale-out from zero, in-place update (all at once, and a tenth at a time), recreate update, and
// scale-in to zero. Without a kubeconfig a new cluster is started, and its usage is printed, too.
//   node bench/cloneset.ts [--kubeconfig FILE] [pods…]
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { type CloneSet, type CloneSetRollingUpdate, cloneSet } from '@kruise/api/kruise/cloneset';
import { connect } from '@kruise/client/connect';
import { startInformer } from '@kruise/client/informer';
import { systemClock, systemRandom } from '@kruise/values/system';

const { values, positionals } = parseArgs({
  options: { kubeconfig: { type: 'string' }, nodes: { type: 'string', default: '60' } },
  allowPositionals: true,
});
const counts = positionals.length > 0 ? positionals.map(Number) : [100, 1000, 5000];

const cluster = values.kubeconfig === undefined ? await startCluster() : undefined;
const { client, close } = connect(systemClock, {
  path: values.kubeconfig ?? cluster!.kubeconfig,
  userAgent: 'bench',
});
const stop = new AbortController();
const name = `bench-cloneset-${process.pid}`;
const reference = { namespace: name, name: 'web' };
try {
  await client.create(namespace, { metadata: { name } });
  for (const count of counts) await measureAll(count);
} finally {
  stop.abort();
  await client.delete(namespace, { name }).catch(() => undefined);
  close();
  await cluster?.stop();
}

/** Returns a template with two typical containers: 3 KiB as stored. */
function templateOf(image: string, revision: string): CloneSet['spec']['template'] {
  const container = (program: string, tag: string, containerPort: number) => ({
    name: program,
    image: `${program}:${tag}`,
    env: [{ name: 'REVISION', value: revision }],
    ports: [{ name: program, containerPort }],
    resources: { requests: { cpu: '1m', memory: '1Mi' } },
  });
  return {
    metadata: { labels: { app: 'web' }, annotations: { team: 'bench' } },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [container('nginx', image, 80), container('redis', '7', 6379)],
    },
  };
}

async function measureAll(count: number): Promise<void> {
  const inPlace = (maxUnavailable: string): CloneSetRollingUpdate => ({
    podUpdatePolicy: 'InPlaceIfPossible',
    maxUnavailable,
  });
  const set = (rollingUpdate: CloneSetRollingUpdate, template: CloneSet['spec']['template'], replicas = count) => ({
    spec: { replicas, template, updateStrategy: { type: 'RollingUpdate' as const, rollingUpdate } },
  });
  await client.create(cloneSet, {
    metadata: reference,
    spec: { replicas: 0, selector: { matchLabels: { app: 'web' } }, template: templateOf('1.25', 'a') },
  });
  const change = (to: object) => client.patch(cloneSet, reference, to, { type: 'merge' });
  await measure(`${count}: scale out`, count, () => change(set(inPlace('100%'), templateOf('1.25', 'a'))));
  const before = await uids();
  await measure(`${count}: in place, all at once`, count, () => change(set(inPlace('100%'), templateOf('1.26', 'a'))));
  await measure(`${count}: in place, 10 % at a time`, count, () =>
    change(set(inPlace('10%'), templateOf('1.27', 'a'))),
  );
  const after = await uids();
  if (before.symmetricDifference(after).size > 0) throw new Error('Pods were replaced that could be updated in place');
  const recreate = { podUpdatePolicy: 'ReCreate', maxUnavailable: '10%' } as const;
  await measure(`${count}: replaced, 10 % at a time`, count, () => change(set(recreate, templateOf('1.27', 'b'))));
  await measure(`${count}: scale in`, count, () => change({ spec: { replicas: 0 } }));
  await client.delete(cloneSet, reference);
}

async function uids(): Promise<Set<string>> {
  const { items } = await client.list(pod, { namespace: name, labelSelector: 'app=web' });
  return new Set(items.map(({ metadata }) => metadata.uid ?? ''));
}

async function measure(what: string, count: number, begin: () => Promise<CloneSet>): Promise<void> {
  const startMs = performance.now();
  const cpu = cluster?.processorMs() ?? 0;
  const { metadata } = await begin();
  await rolledOut(metadata.generation ?? 0);
  const tookMs = performance.now() - startMs;
  const cost = cluster
    ? `, processor ${(((cluster.processorMs() - cpu) / count) * 1000).toFixed(0).padStart(5)} µs a Pod, ${cluster.residentMiB()} MiB`
    : '';
  const perSecond = ((count * 1000) / tookMs).toFixed(0).padStart(5);
  console.log(
    `${what.padEnd(34)} ${(tookMs / 1000).toFixed(2).padStart(7)} s, ${perSecond} Pods/s${cost}, load ${loadavg()[0]!.toFixed(1)}`,
  );
}

/** Resolves when the status of the CloneSet reports a complete rollout. */
async function rolledOut(generation: number): Promise<void> {
  const done = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const sets = startInformer(client, systemClock, systemRandom, cloneSet, { namespace: name }, done.signal);
  sets.handle(
    ({ object: { spec, status } }) => {
      const { replicas = 0 } = spec;
      const counts = [status?.replicas, status?.updatedReplicas, status?.updatedAvailableReplicas];
      const isSeen = (status?.observedGeneration ?? 0) >= generation;
      if (isSeen && counts.every((each) => (each ?? 0) === replicas)) resolve();
    },
    { signal: done.signal },
  );
  await promise;
  done.abort();
}

async function startCluster() {
  const folder = mkdtempSync(join(tmpdir(), 'kruise-bench-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const main = new URL('../packages/cli/src/main.ts', import.meta.url).pathname;
  const flags = ['up', '--data', join(folder, 'data'), '--kubeconfig', kubeconfig, '--nodes', values.nodes];
  const child = spawn(process.execPath, [main, ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text) => String(text).includes('Ready in') && resolve());
    child.once('exit', (code) => reject(new Error(`kruise up ended with ${code}`)));
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  // Reads a file of the process in /proc.
  const fileOf = (file: string) => readFileSync(`/proc/${child.pid}/${file}`, 'utf8');
  return {
    kubeconfig,
    /** Clock ticks are hundredths of a second. */
    processorMs(): number {
      const fields = fileOf('stat').split(') ')[1]!.split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    residentMiB: () => Math.round(Number(/VmRSS:\s+(\d+)/.exec(fileOf('status'))![1]) / 1024),
    async stop() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
