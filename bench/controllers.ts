// Rollout latency of controllers: a Deployment scales out from zero and is updated, against an in-memory API server
// with nodes that only report Pods as running. `node bench/controllers.ts [pods]`
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { type Pod, pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { createControllerMetrics } from '@kruise/client/controller-metrics';
import { startInformer } from '@kruise/client/informer';
import { createMetrics, scrape } from '@kruise/client/metrics';
import { runControllerManager } from '@kruise/controlplane/controllers/controller-manager';
import { startFakeNodes } from '@kruise/controlplane/testing/nodes';
import { isPodReady } from '@kruise/machinery/pods';
import { systemClock, systemRandom } from '@kruise/values/system';

const replicas = Number(process.argv[2] ?? 1000);
const labels = { app: 'web' };
const templateOf = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'main', image }] } });
const reference = { namespace: 'default', name: 'web' };

await using server = await startTestServer({ freezeObjects: false });
const { client } = server;
const stop = new AbortController();
const group = ['system:serviceaccounts', 'system:serviceaccounts:kube-system'];
const registry = createMetrics();
await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
startFakeNodes(client, systemClock, systemRandom, stop.signal);
const running = runControllerManager(
  {
    client: server.clientOf({ username: 'system:kube-controller-manager', groups: [] }),
    clientOf: (account) => server.clientOf({ username: `system:serviceaccount:kube-system:${account}`, groups: group }),
    clock: systemClock,
    random: systemRandom,
    settings: { rootAuthorities: '' },
    controllers: ['deployment-controller', 'replicaset-controller'],
    metrics: createControllerMetrics(registry),
  },
  stop.signal,
);

const deployments = startInformer(client, systemClock, systemRandom, deployment, {}, stop.signal);
const pods = startInformer(client, systemClock, systemRandom, pod, {}, stop.signal);
await Promise.all([deployments.synced, pods.synced]);

/** Resolves when the status of the Deployment reports a complete rollout. */
function rolledOut(): Promise<void> {
  return new Promise((resolve) => {
    const done = new AbortController();
    deployments.handle(
      ({ object: { metadata, spec, status } }) => {
        const wanted = spec?.replicas ?? 0;
        if (status?.observedGeneration !== metadata.generation || (status?.replicas ?? 0) !== wanted) return;
        if ((status?.updatedReplicas ?? 0) !== wanted || (status?.availableReplicas ?? 0) !== wanted) return;
        done.abort();
        resolve();
      },
      { signal: done.signal },
    );
  });
}

function quantile(sorted: readonly number[], part: number): string {
  return `${(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(0)} ms`;
}

async function measure(name: string, begin: () => Promise<unknown>): Promise<void> {
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  const readyAt = new Map<string, number>();
  const watched = new AbortController();
  pods.handle(
    ({ object, cause }) => {
      const uid = object.metadata.uid ?? '';
      if (cause === 'event' && isPodReady(object as Pod) && !readyAt.has(uid))
        readyAt.set(uid, performance.now() - startMs);
    },
    { signal: watched.signal },
  );
  await begin();
  await rolledOut();
  const tookMs = performance.now() - startMs;
  watched.abort();
  const { user, system } = process.cpuUsage(cpu);
  const sorted = [...readyAt.values()].sort((a, b) => a - b);
  const perSecond = ((replicas * 1000) / tookMs).toFixed(0);
  console.log(
    `${name.padEnd(34)} ${tookMs.toFixed(0).padStart(6)} ms, ${perSecond.padStart(5)} Pods/s, processor ` +
      `${((user + system) / 1000).toFixed(0)} ms; a Pod is ready p50 ${quantile(sorted, 0.5)}, p99 ${quantile(sorted, 0.99)}`,
  );
}

const scaleTo = (count: number) =>
  client.patch(deployment, reference, { spec: { replicas: count } }, { type: 'merge' });

await client.create(deployment, {
  metadata: reference,
  spec: { replicas: 0, selector: { matchLabels: labels }, template: templateOf('a') },
});
await rolledOut();
await measure(`from 0 to ${replicas} Pods`, () => scaleTo(replicas));
await measure('to another template', () =>
  client.patch(deployment, reference, { spec: { template: templateOf('b') } }, { type: 'merge' }),
);
await measure('from there to none', () => scaleTo(0));

// A single Pod measures the latency of the chain: Deployment, ReplicaSet, Pod, ready, and the statuses back up.
const alone: number[] = [];
for (let round = 0; round < 50; round++) {
  for (const count of [1, 0]) {
    const startMs = performance.now();
    await scaleTo(count);
    await rolledOut();
    if (count === 1) alone.push(performance.now() - startMs);
  }
}
alone.sort((a, b) => a - b);
console.log(
  `${'one Pod, from nothing to reported'.padEnd(34)} p50 ${quantile(alone, 0.5)}, p99 ${quantile(alone, 0.99)}`,
);

const passes = scrape(registry, undefined).text.matchAll(
  /controller_runtime_reconcile_time_seconds_(sum|count)\{controller="(\w+)"\} (\S+)/g,
);
const totals = new Map<string, { sum: number; count: number }>();
for (const [, part, name, value] of passes) {
  const total = totals.get(name!) ?? { sum: 0, count: 0 };
  total[part as 'sum' | 'count'] = Number(value);
  totals.set(name!, total);
}
for (const [name, { sum, count }] of totals) {
  console.log(
    `${`passes of ${name}`.padEnd(34)} ${count}, ${((sum * 1000) / count).toFixed(1)} ms each, writes awaited`,
  );
}
console.log(
  `${'ReplicaSets left'.padEnd(34)} ${(await client.list(replicaSet, { namespace: 'default' })).items.length}`,
);

stop.abort();
await running;
