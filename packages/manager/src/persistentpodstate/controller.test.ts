/** Pods that return to their nodes, on a real API server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { statefulSet as kubernetesStatefulSet } from '@kruise/api/apps/statefulset';
import { configMap } from '@kruise/api/core/configmap';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { statefulSet } from '@kruise/api/kruise/statefulset';
import { dynamicKind } from '@kruise/client/dynamic-kind';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';

type Annotations = { readonly [key: string]: string };

const web = { name: 'web', namespace: 'default' };
const auto = { 'kruise.io/auto-generate-persistent-pod-state': 'true' };
const required = { 'kruise.io/required-persistent-topology': 'zone' };
const preferred = { 'kruise.io/preferred-persistent-topology': 'host' };
const labels = { zone: 'north', host: 'node-1' };
const selector = { matchLabels: { app: 'web' } };
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app' }] } };
const sizeAndShape = (replicas: number) => ({ replicas, selector, serviceName: 'web', template });

/** Starts a node and a StatefulSet on it, and runs all of its Pods. */
async function start(cluster: TestCluster, replicas: number, annotations: Annotations): Promise<void> {
  const { client } = cluster;
  await client.create(node, { metadata: { name: 'node-1', labels } });
  await client.create(statefulSet, { metadata: { ...web, annotations }, spec: sizeAndShape(replicas) });
  await run(cluster, replicas);
}

/** Runs Pods one after the other, each when the previous one is ready. */
async function run({ pass, runPods }: TestCluster, count: number): Promise<void> {
  await pass(1);
  for (let ordinal = 0; ordinal < count; ordinal++) {
    // A Pod becomes ready after its readiness gates are set.
    await runPods();
    await runPods();
  }
}

const annotate = async ({ client, pass }: TestCluster, annotations: { readonly [key: string]: string | null }) => {
  await client.patch(statefulSet, web, { metadata: { annotations } }, { type: 'merge' });
  await pass(1);
};
const scale = (cluster: TestCluster, replicas: number) =>
  cluster.client.patch(statefulSet, web, { spec: { replicas } }, { type: 'merge' });
const statesIn = async ({ client }: TestCluster) => (await client.list(persistentPodState)).items;
const recordsIn = async (cluster: TestCluster) => (await statesIn(cluster))[0]?.status?.podStates ?? {};
/** Returns the recorded Pods with the labels of their nodes: `web-0 host=node-1 zone=north`. */
const labelsIn = async (cluster: TestCluster) =>
  Object.entries(await recordsIn(cluster))
    .map(([name, { nodeTopologyLabels = {} }]) => {
      const shown = Object.entries(nodeTopologyLabels).map(([key, value]) => `${key}=${value}`);
      return [name, ...shown.sort()].join(' ');
    })
    .sort();

test('recreated Pods return to their nodes, and scaled-in Pods lose their records', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await start(cluster, 3, { ...auto, ...required, ...preferred });
  const [state] = await statesIn(cluster);
  assert.deepEqual(state?.spec.targetRef, { apiVersion: 'apps.kruise.io/v1beta1', kind: 'StatefulSet', name: 'web' });
  const everywhere = ['web-0', 'web-1', 'web-2'].map((name) => `${name} host=node-1 zone=north`);
  assert.deepEqual(await labelsIn(cluster), everywhere);

  const second = { name: 'web-1', namespace: 'default' };
  const { metadata: old } = await client.get(pod, second);
  await client.delete(pod, second, { gracePeriodSeconds: 0 });
  await pass(1);
  const replacement = await client.get(pod, second);
  assert.notEqual(replacement.metadata.uid, old.uid);
  assert.equal(replacement.metadata.annotations?.['kruise.io/injected-persistent-pod-state'], 'web');
  assert.deepEqual(replacement.spec?.nodeSelector, { zone: 'north' });
  assert.deepEqual(await labelsIn(cluster), everywhere, 'a Pod that does not exist keeps its record');

  await run(cluster, 1);
  await scale(cluster, 1);
  await pass(1);
  for (const ordinal of [2, 1]) {
    await client.delete(pod, { name: `web-${ordinal}`, namespace: 'default' }, { gracePeriodSeconds: 0 });
    await pass(1);
  }
  assert.deepEqual(await labelsIn(cluster), everywhere.slice(0, 1));
});

test('changed annotations update the PersistentPodState', async () => {
  await using cluster = await startTestCluster();
  await start(cluster, 1, {});
  assert.deepEqual(await statesIn(cluster), []);
  await annotate(cluster, { ...auto, ...required, ...preferred });
  assert.deepEqual(await labelsIn(cluster), ['web-0 host=node-1 zone=north']);
  await annotate(cluster, { 'kruise.io/required-persistent-topology': null });
  assert.deepEqual(await labelsIn(cluster), ['web-0 host=node-1']);
  await annotate(cluster, { 'kruise.io/auto-generate-persistent-pod-state': null });
  assert.deepEqual(await statesIn(cluster), []);
  await annotate(cluster, auto);
  assert.deepEqual(await labelsIn(cluster), ['web-0 host=node-1']);
});

test('records stay with the workload under WhenDeleted, and no longer', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await start(cluster, 2, {});
  await client.create(persistentPodState, {
    metadata: web,
    spec: {
      targetRef: { apiVersion: 'apps.kruise.io/v1alpha1', kind: 'StatefulSet', name: 'web' },
      requiredPersistentTopology: { keys: ['zone'] },
      persistentPodStateRetentionPolicy: 'WhenDeleted',
    },
  });
  await pass(1);
  assert.deepEqual(await labelsIn(cluster), ['web-0 zone=north', 'web-1 zone=north']);
  await scale(cluster, 0);
  await pass(1);
  assert.deepEqual(Object.keys(await recordsIn(cluster)), ['web-0', 'web-1']);
  await client.delete(statefulSet, web);
  await pass(1);
  assert.deepEqual(await recordsIn(cluster), {});
});

test("Pods of Kubernetes' StatefulSets are recorded", async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await client.create(node, { metadata: { name: 'node-1', labels } });
  const set = await client.create(kubernetesStatefulSet, {
    metadata: { ...web, annotations: { ...auto, ...preferred } },
    spec: sizeAndShape(1),
  });
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: set.metadata.uid!, controller: true };
  await client.create(pod, {
    metadata: { name: 'web-0', namespace: 'default', ownerReferences: [owner] },
    spec: template.spec,
  });
  await run(cluster, 1);
  assert.deepEqual(await labelsIn(cluster), ['web-0 host=node-1']);
  await client.delete(kubernetesStatefulSet, web, { propagationPolicy: 'Orphan' });
  await pass(1);
  assert.deepEqual(await recordsIn(cluster), {});
});

const games = dynamicKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Game',
  plural: 'games',
  scope: 'Namespaced',
});

async function define({ client, pass }: TestCluster): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } as const;
  await client.create(customResourceDefinition, {
    metadata: { name: 'games.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'games', kind: 'Game' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
  await pass(1);
}

/** Creates a custom workload and a Pod of it. */
async function play({ client }: TestCluster): Promise<void> {
  const annotations = { ...auto, ...required, 'kruise.io/persistent-pod-annotations': 'name' };
  const game = { metadata: { name: 'chess', namespace: 'default', annotations }, spec: { replicas: 1 } };
  const { metadata } = await client.create(games, game);
  const owner = { apiVersion: 'example.com/v1', kind: 'Game', name: 'chess', uid: metadata.uid!, controller: true };
  const named = { name: 'chess-0', namespace: 'default', annotations: { name: 'first' } };
  await client.create(pod, { metadata: { ...named, ownerReferences: [owner] }, spec: template.spec });
}

const list = '{"workloads":[{"Group":"example.com","Version":"v1","Kind":"Game"}]}';
const configuration = {
  metadata: { name: 'kruise-configuration', namespace: 'kruise-system' },
  data: { PPS_Watch_Custom_Workload_WhiteList: list },
};

test('other workloads are watched while they are in the allowlist', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await client.create(node, { metadata: { name: 'node-1', labels } });
  await define(cluster);
  await play(cluster);
  await run(cluster, 1);
  assert.deepEqual(await statesIn(cluster), []);

  await client.create(configMap, configuration);
  await pass(1);
  const record = { nodeName: 'node-1', nodeTopologyLabels: { zone: 'north' }, annotations: { name: 'first' } };
  assert.deepEqual(await recordsIn(cluster), { 'chess-0': record });

  const former = { name: 'chess-0', namespace: 'default' };
  const { ownerReferences = [] } = (await client.get(pod, former)).metadata;
  await client.delete(pod, former, { gracePeriodSeconds: 0 });
  await pass(1);
  const next = await client.create(pod, { metadata: { ...former, ownerReferences }, spec: template.spec });
  assert.deepEqual(next.spec?.nodeSelector, { zone: 'north' });

  const listing = async (data: { readonly [key: string]: string }) => {
    await updateWithRetry(client, configMap, configuration.metadata, (found) => ({ ...found, data }));
    await pass(1);
  };
  await listing({ PPS_Watch_Custom_Workload_WhiteList: '{' });
  await client.patch(games, { name: 'chess', namespace: 'default' }, { spec: { replicas: 0 } }, { type: 'merge' });
  await pass(1);
  assert.deepEqual(await recordsIn(cluster), {}, 'an invalid allowlist changes nothing');
  await client.patch(games, { name: 'chess', namespace: 'default' }, { spec: { replicas: 1 } }, { type: 'merge' });
  await run(cluster, 1);
  assert.deepEqual(Object.keys(await recordsIn(cluster)), ['chess-0']);

  await listing({});
  await client.delete(games, { name: 'chess', namespace: 'default' });
  await pass(1);
  assert.deepEqual(Object.keys(await recordsIn(cluster)), ['chess-0'], 'the controller has stopped');
});

test('a listed workload kind that is not served yet is found later', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await client.create(node, { metadata: { name: 'node-1', labels } });
  await client.create(configMap, configuration);
  await pass(1);
  await define(cluster);
  await play(cluster);
  await run(cluster, 1);
  await pass(30);
  assert.deepEqual(Object.keys(await recordsIn(cluster)), ['chess-0']);
});
