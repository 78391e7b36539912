/**
 * How many Pods a second the scheduler places on 10, 100 and 1,000 nodes: decisions alone, for Pods of several sorts;
 * and all of it, with an API server in memory in the same process that stores each binding and an event about it.
 */
import { type Node, node as nodeKind } from '@kruise/api/core/node';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { createCluster } from '@kruise/controlplane/scheduler/cluster/cluster';
import { podInfoOf } from '@kruise/controlplane/scheduler/cluster/pod-info';
import { defaultConfiguration } from '@kruise/controlplane/scheduler/configuration';
import { decide } from '@kruise/controlplane/scheduler/decide';
import { createMemory } from '@kruise/controlplane/scheduler/memory';
import { createProfile } from '@kruise/controlplane/scheduler/profile';
import { runScheduler } from '@kruise/controlplane/scheduler/scheduler';
import { emptyParts } from '@kruise/controlplane/scheduler/testing/parts';
import { seededRandom } from '@kruise/values/random';
import { systemClock, systemRandom } from '@kruise/values/system';

const sizes = [10, 100, 1000];
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

function decisionsPerSecond(nodeCount: number, spec: Partial<NonNullable<Pod['spec']>>): number {
  const cluster = createCluster();
  for (let index = 0; index < nodeCount; index++) cluster.setNode(nodeOf(index));
  const profile = createProfile(defaultConfiguration.profiles[0]!, emptyParts());
  const nominations = { onNode: () => [] };
  const random = seededRandom(1);
  const memory = createMemory();
  let start = 0;
  let placed = 0;
  const place = (count: number) => {
    for (let index = 0; index < count; index++) {
      const pod = podInfoOf(podOf(`pod-${placed++}`, spec));
      const { decision, nextStart } = decide(profile, pod, { cluster, nominations, memory, random, start });
      if (decision.type !== 'placed') throw new Error('a Pod was not placed');
      start = nextStart;
      cluster.assume(pod, decision.node.name);
    }
  };
  place(500);
  const begun = performance.now();
  const count = nodeCount >= 1000 ? 3000 : 10_000;
  place(count);
  return Math.round((count / (performance.now() - begun)) * 1000);
}

async function podsPerSecond(nodeCount: number, podCount: number): Promise<number> {
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
  const begun = performance.now();
  const done = runScheduler(
    { client: server.clientOf(user), clock: systemClock, random: systemRandom, host: 'bench' },
    stop.signal,
  );
  let left = podCount;
  for await (const { object } of watch) if (object.spec?.nodeName && --left === 0) break;
  const perSecond = Math.round((podCount / (performance.now() - begun)) * 1000);
  stop.abort();
  await done;
  return perSecond;
}

for (const nodeCount of sizes) {
  for (const [name, spec] of Object.entries(sorts)) {
    console.log(`${nodeCount} nodes, decisions, Pods ${name}: ${decisionsPerSecond(nodeCount, spec)}/s`);
  }
  console.log(`${nodeCount} nodes, with the API server: ${await podsPerSecond(nodeCount, 5000)}/s`);
}
