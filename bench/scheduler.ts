/**
 * Scheduling throughput for 10,000 Pods on 100, 1,000 and 5,000 nodes: the CPU time of decisions alone, for several
 * kinds of Pods, for the first and the last thousand; and the wall-clock time of the whole scheduler, with an in-memory
 * API server in the same process that stores each binding and its event. Accepts other numbers of nodes as arguments;
 * on a busy machine use the CPU times.
 */
import { type Node, node as nodeKind } from '@kruise/api/core/node';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { createCluster } from '@kruise/controlplane/scheduler/cluster/cluster';
import { podInfoOf } from '@kruise/controlplane/scheduler/cluster/pod-info';
import { defaultConfiguration } from '@kruise/controlplane/scheduler/configuration';
import { decide } from '@kruise/controlplane/scheduler/decide';
import { createEquivalenceCache } from '@kruise/controlplane/scheduler/equivalence-cache';
import { createProfile } from '@kruise/controlplane/scheduler/profile';
import { runScheduler } from '@kruise/controlplane/scheduler/scheduler';
import { emptyParts } from '@kruise/controlplane/scheduler/testing/parts';
import { seededRandom } from '@kruise/values/random';
import { systemClock, systemRandom } from '@kruise/values/system';

const given = process.argv.slice(2).map(Number);
const sizes = given.length > 0 ? given : [100, 1000, 5000];
const podCount = 10_000;
const allocatable = { cpu: '1000', memory: '4Ti', pods: '100000' };

const nodeOf = (index: number): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: `node-${index}`,
    labels: { 'kubernetes.io/hostname': `node-${index}`, 'topology.kubernetes.io/zone': `zone-${index % 3}` },
  },
  spec: {},
  status: { allocatable, capacity: allocatable },
});

const labels = { app: 'web' };
const labelSelector = { matchLabels: labels };
const sorts: { readonly [name: string]: Partial<NonNullable<Pod['spec']>> } = {
  plain: {},
  'spread by zone': {
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector },
    ],
  },
  'near their like': {
    affinity: {
      podAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 10, podAffinityTerm: { topologyKey: 'topology.kubernetes.io/zone', labelSelector } },
        ],
      },
    },
  },
};

const podOf = (name: string, spec: Partial<NonNullable<Pod['spec']>>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: name, labels },
  spec: {
    schedulerName: 'default-scheduler',
    containers: [{ name: 'c', image: 'app:1', resources: { requests: { cpu: '100m', memory: '64Mi' } } }],
    ...spec,
  },
});

/** Returns the CPU time per decision in microseconds, for the first and the last thousand Pods. */
function decisionCosts(nodeCount: number, spec: Partial<NonNullable<Pod['spec']>>): readonly [number, number] {
  const cluster = createCluster();
  for (let index = 0; index < nodeCount; index++) cluster.setNode(nodeOf(index));
  const profile = createProfile(defaultConfiguration.profiles[0]!, emptyParts());
  const nominations = { onNode: () => [] };
  const random = seededRandom(1);
  const memory = createEquivalenceCache();
  let start = 0;
  let placed = 0;
  const place = (count: number): number => {
    const startMs = process.cpuUsage();
    for (let index = 0; index < count; index++) {
      const pod = podInfoOf(podOf(`pod-${placed++}`, spec));
      const { decision, nextStart } = decide(profile, pod, { cluster, nominations, memory, random, start });
      if (decision.type !== 'placed') throw new Error('a Pod was not placed');
      start = nextStart;
      cluster.assume(pod, decision.node.name);
    }
    const { user, system } = process.cpuUsage(startMs);
    return (user + system) / count;
  };
  // Warm-up: the first decisions include compilation.
  place(500);
  const first = place(1000);
  place(podCount - placed - 1000);
  return [first, place(1000)];
}

/** Returns the Pods per second, and the CPU time per Pod in microseconds, including the API server. */
async function wholeCosts(nodeCount: number): Promise<readonly [perSecond: number, each: number]> {
  await using server = await startTestServer({ freezeObjects: false });
  const { client } = server;
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
  for (let index = 0; index < nodeCount; index++) {
    const { status, ...node } = nodeOf(index);
    const created = await client.create(nodeKind, node);
    const ready = await client.update(nodeKind, { ...created, spec: {} });
    await client.update(nodeKind, { ...ready, ...(status ? { status } : {}) }, { subresource: 'status' });
  }
  for (let index = 0; index < podCount; index++) {
    const { metadata, ...pod } = podOf(`pod-${index}`, {});
    await client.create(podKind, { ...pod, metadata: { ...metadata, uid: undefined as never } });
  }
  const stop = new AbortController();
  const user = { username: 'system:kube-scheduler', groups: ['system:authenticated'] };
  const { metadata } = await client.list(podKind, { limit: 1 });
  const watch = client.watch(podKind, { resourceVersion: metadata.resourceVersion!, namespace: 'default' });
  const startMs = performance.now();
  const used = process.cpuUsage();
  const done = runScheduler(
    { client: server.clientOf(user), clock: systemClock, random: systemRandom, host: 'bench' },
    stop.signal,
  );
  let left = podCount;
  for await (const { object } of watch) if (object.spec?.nodeName && --left === 0) break;
  const perSecond = (podCount / (performance.now() - startMs)) * 1000;
  stop.abort();
  await done;
  const { user: userMicros, system } = process.cpuUsage(used);
  return [perSecond, (userMicros + system) / podCount];
}

for (const nodeCount of sizes) {
  for (const [name, spec] of Object.entries(sorts)) {
    const [first, last] = decisionCosts(nodeCount, spec).map(Math.round) as [number, number];
    const perSecond = Math.round(1e6 / last);
    console.log(`${nodeCount} nodes, decisions, Pods ${name}: ${first} µs, at last ${last} µs, ${perSecond}/s`);
  }
  const [wholePerSecond, each] = (await wholeCosts(nodeCount)).map(Math.round) as [number, number];
  console.log(`${nodeCount} nodes, with the API server: ${wholePerSecond}/s, ${each} µs of processor time each`);
}
