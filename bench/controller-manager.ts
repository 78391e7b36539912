// kube-controller-manager as a separate process: start-up latency, and idle usage with a number of Pods. Measures ours
// and, with --program, another program with the same flags.
//   node bench/controller-manager.ts [--program kube-controller-manager] [--idle SECONDS] [pods…]
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ReplicaSet, replicaSet } from '@kruise/api/apps/replicaset';
import { namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import type { Client } from '@kruise/client/client';
import { connect } from '@kruise/client/connect';
import { controllerReference } from '@kruise/machinery/owner-references';
import { isAlreadyExists } from '@kruise/machinery/status';
import { systemClock } from '@kruise/values/system';
import { useOf } from './process-use.ts';

const { values, positionals } = parseArgs({
  options: { program: { type: 'string' }, idle: { type: 'string', default: '20' } },
  allowPositionals: true,
});
const counts = positionals.length > 0 ? positionals.map(Number) : [0, 5000, 50_000];
const idleMs = Number(values.idle) * 1000;
const perSet = 500;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const templateOf = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image: 'nginx:1.25', resources: { requests: { cpu: '100m' } } }] },
});

const bundler = new URL('../scripts/bundle.mjs', import.meta.url).href;
// The bundler is plain JavaScript without types, because it runs on any Node.js version.
const { bundledCommand } = (await import(bundler)) as { bundledCommand(): Promise<string> };
const command = await bundledCommand();

const folder = mkdtempSync(join(tmpdir(), 'kruise-bench-'));
const kubeconfig = join(folder, 'kubeconfig');
const data = join(folder, 'data');
const server = spawn(process.execPath, [command, 'apiserver', '--data', data, '--kubeconfig', kubeconfig], {
  stdio: 'ignore',
});
const ended = new Promise((resolve) => server.once('exit', resolve));
while (!existsSync(join(data, 'running.json'))) await pause(5);
const { client, close } = connect(systemClock, { path: kubeconfig });

try {
  await client.create(namespace, { metadata: { name: 'bench' } });
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'bench' } }).catch((error) => {
    if (!isAlreadyExists(error)) throw error;
  });
  let made = 0;
  for (const count of counts) {
    await fill(client, made, count);
    made = count;
    console.log(`${count} Pods, load ${loadavg()[0]!.toFixed(1)}`);
    await measure('ours', process.execPath, [command, 'controller-manager']);
    if (values.program !== undefined) await measure('other', values.program, []);
  }
} finally {
  close();
  server.kill();
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

/** Creates ReplicaSets with all their Pods, so that nothing has to be reconciled. */
async function fill(client: Client, from: number, to: number): Promise<void> {
  for (let beginMs = from; beginMs < to; beginMs += perSet) {
    const set = await client.create(replicaSet, {
      metadata: { name: `set-${beginMs / perSet}`, namespace: 'bench' },
      spec: { replicas: perSet, selector: { matchLabels: { app: 'bench' } }, template: templateOf('bench') },
    });
    const owner: ReplicaSet = { ...set, apiVersion: 'apps/v1', kind: 'ReplicaSet' };
    for (let index = 0; index < perSet; index += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, each) =>
          client.create(pod, {
            metadata: {
              name: `pod-${beginMs + index + each}`,
              namespace: 'bench',
              labels: { app: 'bench' },
              ownerReferences: [controllerReference(owner)],
            },
            spec: templateOf('bench').spec,
          }),
        ),
      );
    }
  }
}

async function measure(name: string, program: string, before: readonly string[]): Promise<void> {
  const pki = join(data, 'pki');
  const beginMs = performance.now();
  const child = spawn(
    program,
    [
      ...[...before, '--kubeconfig', kubeconfig, '--leader-elect=false', '--use-service-account-credentials=true'],
      ...['--secure-port', '0', '--root-ca-file', join(pki, 'ca.crt')],
      ...['--service-account-private-key-file', join(pki, 'service-account.key')],
    ],
    { stdio: 'ignore' },
  );
  const over = new Promise((resolve) => child.once('exit', resolve));
  try {
    await atWork(child, name);
    const atWorkMs = performance.now() - beginMs;
    const { cpuMs: startMs } = useOf(child.pid!);
    await pause(idleMs);
    const settled = useOf(child.pid!);
    await pause(idleMs);
    const after = useOf(child.pid!);
    const share = (((after.cpuMs - settled.cpuMs) / idleMs) * 100).toFixed(2);
    console.log(
      `  ${name}: at work after ${atWorkMs.toFixed(0)} ms and ${startMs} ms of processor time; ` +
        `then ${after.mib} MiB and ${share} % of a core`,
    );
  } finally {
    child.kill();
    await over;
  }
}

/** Waits until a new ReplicaSet is observed, which proves that the controllers are running. */
async function atWork(child: ChildProcess, name: string): Promise<void> {
  const probe = { name: `probe-${name}-${child.pid}`, namespace: 'bench' };
  await client.create(replicaSet, {
    metadata: probe,
    spec: { replicas: 0, selector: { matchLabels: { app: 'probe' } }, template: templateOf('probe') },
  });
  while (((await client.get(replicaSet, probe)).status?.observedGeneration ?? 0) === 0) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    await pause(10);
  }
}
