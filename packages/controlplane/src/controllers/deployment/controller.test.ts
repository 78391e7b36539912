import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Deployment, deployment } from '@kruise/api/apps/deployment';
import { type ReplicaSet, replicaSet } from '@kruise/api/apps/replicaset';
import { event } from '@kruise/api/core/event';
import { type Pod, pod } from '@kruise/api/core/pod';
import { resourceQuota } from '@kruise/api/core/resourcequota';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import { seededRandom } from '@kruise/values/random';
import { type Cluster, startCluster } from '../../testing/cluster.ts';
import { type FakeNodes, startFakeNodes } from '../../testing/nodes.ts';

const reference = { name: 'web', namespace: 'default' };
const labels = { app: 'web' };

type Setting = Cluster & { readonly nodes: FakeNodes };

async function startDeployments(): Promise<Setting> {
  const cluster = await startCluster();
  const stop = new AbortController();
  const nodes = startFakeNodes(cluster.client, cluster.clock, seededRandom('nodes'), stop.signal);
  await cluster.run(['deployment-controller', 'replicaset-controller']);
  const close = async () => {
    stop.abort();
    await cluster.close();
  };
  return { ...cluster, nodes, close, [Symbol.asyncDispose]: close };
}

function deploymentOf(spec: Partial<NonNullable<Deployment['spec']>> = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...reference, annotations: { 'kubernetes.io/change-cause': 'first' } },
    spec: { replicas: 10, selector: { matchLabels: labels }, template: templateOf('a'), ...spec },
  };
}

function templateOf(image: string) {
  return { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } };
}

const setsOf = async ({ client }: Cluster): Promise<readonly ReplicaSet[]> =>
  (await client.list(replicaSet, { namespace: 'default' })).items;
const podsOf = async ({ client }: Cluster): Promise<readonly Pod[]> =>
  (await client.list(pod, { namespace: 'default' })).items;
const imagesOf = (pods: readonly Pod[]) => [...new Set(pods.map(({ spec }) => spec?.containers?.[0]?.image))];
const conditionsOf = async ({ client }: Cluster) =>
  Object.fromEntries(
    ((await client.get(deployment, reference)).status?.conditions ?? []).map(({ type, status, reason }) => [
      type,
      `${status} ${reason}`,
    ]),
  );

async function patchSpec({ client }: Cluster, spec: object): Promise<void> {
  await client.patch(deployment, reference, { spec }, { type: 'merge' });
}

/** Advances the clock until nothing changes any more. */
async function settle(cluster: Cluster): Promise<void> {
  await cluster.advance(5);
}

test('a rollout respects its budget at all times, and is reported', async () => {
  await using cluster = await startDeployments();
  const { client } = cluster;
  await client.create(deployment, deploymentOf());
  await settle(cluster);
  assert.equal((await podsOf(cluster)).filter(isPodReady).length, 10);

  const worst = { most: 0, fewestReady: 10 };
  const watching = new AbortController();
  const { metadata, items } = await client.list(pod, { namespace: 'default' });
  const known = new Map(items.map((each) => [each.metadata.uid, each]));
  const watched = (async () => {
    const options = { resourceVersion: metadata.resourceVersion!, namespace: 'default', signal: watching.signal };
    for await (const { type, object } of client.watch(pod, options)) {
      if (type === 'DELETED') known.delete(object.metadata.uid);
      else known.set(object.metadata.uid, object);
      const active = [...known.values()].filter(isPodActive);
      worst.most = Math.max(worst.most, active.length);
      worst.fewestReady = Math.min(worst.fewestReady, active.filter(isPodReady).length);
    }
  })().catch(() => {});
  await patchSpec(cluster, { template: templateOf('b') });
  await settle(cluster);
  watching.abort();
  await watched;
  assert.deepEqual(imagesOf(await podsOf(cluster)), ['b']);
  assert.ok(worst.most <= 13, `at most ${worst.most} Pods`);
  assert.ok(worst.fewestReady >= 8, `at least ${worst.fewestReady} ready`);

  const { status, metadata: now } = await client.get(deployment, reference);
  const { conditions: _, ...figures } = status ?? {};
  assert.deepEqual(figures, {
    observedGeneration: 2,
    replicas: 10,
    updatedReplicas: 10,
    readyReplicas: 10,
    availableReplicas: 10,
  });
  assert.equal(now.annotations?.['deployment.kubernetes.io/revision'], '2');
  assert.deepEqual(await conditionsOf(cluster), {
    Available: 'True MinimumReplicasAvailable',
    Progressing: 'True NewReplicaSetAvailable',
  });
  const [first, second] = (await setsOf(cluster)).toSorted((a, b) => (a.spec?.replicas ?? 0) - (b.spec?.replicas ?? 0));
  assert.deepEqual([first?.spec?.replicas, second?.spec?.replicas], [0, 10]);
  const hash = second?.metadata.labels?.['pod-template-hash'];
  assert.equal(second?.metadata.name, `web-${hash}`);
  assert.deepEqual(second?.metadata.annotations, {
    'deployment.kubernetes.io/desired-replicas': '10',
    'deployment.kubernetes.io/max-replicas': '13',
    'deployment.kubernetes.io/revision': '2',
    'kubernetes.io/change-cause': 'first',
  });
  const events = (await client.list(event, { namespace: 'default' })).items.filter(
    ({ source }) => source?.component === 'deployment-controller',
  );
  assert.ok(events.some(({ message }) => message === `Scaled up replica set ${first?.metadata.name} from 0 to 10`));
  assert.ok(events.some(({ message }) => message === `Scaled up replica set ${second?.metadata.name} from 0 to 3`));
  assert.ok(events.some(({ message }) => message === `Scaled down replica set ${first?.metadata.name} from 10 to 8`));
  assert.deepEqual(cluster.warnings, []);
});

test('a ReplicaSet is named with the hash that Kubernetes computes from the stored template', async () => {
  await using cluster = await startDeployments();
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'main', image: 'shop:1', resources: { limits: { cpu: '0.5' } } }] },
  };
  await cluster.client.create(deployment, deploymentOf({ replicas: 1, template }));
  await settle(cluster);
  // Computed by a Go program with k8s.io/api v0.33.4 for the defaulted template.
  assert.deepEqual(
    (await setsOf(cluster)).map(({ metadata }) => metadata.name),
    ['web-5c487465c8'],
  );
  assert.deepEqual(
    (await podsOf(cluster)).map(({ metadata }) => metadata.labels),
    [{ app: 'web', 'pod-template-hash': '5c487465c8' }],
  );
});

test('a ReplicaSet of the same template with another hash is kept, so that an upgrade starts no rollout', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  const { metadata } = await client.create(deployment, deploymentOf({ replicas: 2 }));
  const hashed = { ...labels, 'pod-template-hash': '6d5f4c8b9' };
  const earlier = await client.create(replicaSet, {
    metadata: {
      name: 'web-6d5f4c8b9',
      namespace: 'default',
      labels: hashed,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: metadata.uid!, controller: true },
      ],
    },
    spec: {
      replicas: 2,
      selector: { matchLabels: hashed },
      template: { ...templateOf('a'), metadata: { labels: hashed } },
    },
  });
  await cluster.run(['deployment-controller', 'replicaset-controller']);
  await settle(cluster);
  assert.deepEqual(
    (await setsOf(cluster)).map((set) => set.metadata.uid),
    [earlier.metadata.uid],
  );
  assert.deepEqual(
    (await podsOf(cluster)).map((each) => each.metadata.labels),
    [hashed, hashed],
  );
});

test('a stuck rollout is reported, keeps old Pods, and continues when it is fixed', async () => {
  await using cluster = await startDeployments();
  const { client, nodes } = cluster;
  await client.create(deployment, deploymentOf());
  await settle(cluster);
  nodes.becomesReady = ({ spec }) => spec?.containers?.[0]?.image !== 'bad';
  await patchSpec(cluster, { template: templateOf('bad') });
  await cluster.advance(590);
  assert.equal((await conditionsOf(cluster))['Progressing'], 'True ReplicaSetUpdated');
  await cluster.advance(20);
  assert.equal((await conditionsOf(cluster))['Progressing'], 'False ProgressDeadlineExceeded');
  assert.equal((await podsOf(cluster)).filter(isPodReady).length, 8);

  await patchSpec(cluster, { template: templateOf('good') });
  await settle(cluster);
  assert.deepEqual(imagesOf(await podsOf(cluster)), ['good']);
  assert.equal((await conditionsOf(cluster))['Progressing'], 'True NewReplicaSetAvailable');
});

test('a Deployment that returns to an earlier template reuses its ReplicaSet', async () => {
  await using cluster = await startDeployments();
  await cluster.client.create(deployment, deploymentOf({ replicas: 2 }));
  await settle(cluster);
  const [first] = await setsOf(cluster);
  await patchSpec(cluster, { template: templateOf('b') });
  await settle(cluster);
  await patchSpec(cluster, { template: templateOf('a') });
  await settle(cluster);
  const again = await cluster.client.get(replicaSet, { namespace: 'default', name: first!.metadata.name! });
  assert.equal((await setsOf(cluster)).length, 2);
  assert.equal(again.spec?.replicas, 2);
  assert.equal(again.metadata.annotations?.['deployment.kubernetes.io/revision'], '3');
  assert.equal(again.metadata.annotations?.['deployment.kubernetes.io/revision-history'], '1');
  const { metadata } = await cluster.client.get(deployment, reference);
  assert.equal(metadata.annotations?.['deployment.kubernetes.io/revision'], '3');
});

test('a Deployment with the rollback annotation rolls back once', async () => {
  await using cluster = await startDeployments();
  const { client } = cluster;
  await client.create(deployment, deploymentOf({ replicas: 2 }));
  await settle(cluster);
  const second = {
    metadata: { annotations: { 'kubernetes.io/change-cause': 'second' } },
    spec: { template: templateOf('b') },
  };
  await client.patch(deployment, reference, second, { type: 'merge' });
  await settle(cluster);
  const request = { metadata: { annotations: { 'deprecated.deployment.rollback.to': '0' } } };
  await client.patch(deployment, reference, request, { type: 'merge' });
  await settle(cluster);
  const { metadata } = await client.get(deployment, reference);
  assert.deepEqual(imagesOf(await podsOf(cluster)), ['a']);
  assert.equal(metadata.annotations?.['deprecated.deployment.rollback.to'], undefined);
  assert.equal(metadata.annotations?.['kubernetes.io/change-cause'], 'first');
  const events = (await client.list(event, { namespace: 'default' })).items;
  assert.ok(events.some(({ message }) => message === 'Rolled back deployment "web" to revision 1'));
});

test('with Recreate, no new Pod is created while an old one exists', async () => {
  await using cluster = await startDeployments();
  const { client } = cluster;
  await client.create(deployment, deploymentOf({ replicas: 3, strategy: { type: 'Recreate' } }));
  await settle(cluster);
  const [kept] = await podsOf(cluster);
  const held = { namespace: 'default', name: kept!.metadata.name! };
  await client.patch(pod, held, { metadata: { finalizers: ['example.com/hold'] } }, { type: 'merge' });
  await patchSpec(cluster, { template: templateOf('b') });
  await settle(cluster);
  assert.deepEqual(imagesOf(await podsOf(cluster)), ['a']);
  await client.patch(pod, held, { metadata: { finalizers: null } }, { type: 'merge' });
  await settle(cluster);
  assert.deepEqual(imagesOf(await podsOf(cluster)), ['b']);
  assert.equal((await podsOf(cluster)).length, 3);
});

test('a paused Deployment scales, but does not roll out until it is resumed', async () => {
  await using cluster = await startDeployments();
  await cluster.client.create(deployment, deploymentOf({ replicas: 4 }));
  await settle(cluster);
  await patchSpec(cluster, { paused: true, replicas: 6, template: templateOf('b') });
  await settle(cluster);
  assert.deepEqual(imagesOf(await podsOf(cluster)), ['a']);
  assert.equal((await podsOf(cluster)).length, 6);
  assert.equal((await conditionsOf(cluster))['Progressing'], 'Unknown DeploymentPaused');
  await patchSpec(cluster, { paused: false });
  await settle(cluster);
  assert.deepEqual(imagesOf(await podsOf(cluster)), ['b']);
  assert.equal((await conditionsOf(cluster))['Progressing'], 'True NewReplicaSetAvailable');
});

test('old ReplicaSets above the limit are deleted after a rollout', async () => {
  await using cluster = await startDeployments();
  await cluster.client.create(deployment, deploymentOf({ replicas: 1, revisionHistoryLimit: 2 }));
  await settle(cluster);
  for (const image of ['b', 'c', 'd', 'e']) {
    await patchSpec(cluster, { template: templateOf(image) });
    await settle(cluster);
  }
  const images = (await setsOf(cluster)).map(({ spec }) => spec?.template?.spec?.containers?.[0]?.image);
  assert.deepEqual(images.sort(), ['c', 'd', 'e']);
});

test('a name collision with another ReplicaSet is avoided', async () => {
  await using cluster = await startDeployments();
  const { client } = cluster;
  await client.create(deployment, deploymentOf({ replicas: 1 }));
  await settle(cluster);
  const [set] = await setsOf(cluster);
  await client.delete(deployment, reference, { propagationPolicy: 'Background' });
  await settle(cluster);
  const { name } = set!.metadata;
  await client.delete(replicaSet, { namespace: 'default', name: name! });
  const collidingSet = {
    metadata: { name: name!, namespace: 'default' },
    spec: {
      replicas: 0,
      selector: { matchLabels: { a: 'b' } },
      template: { ...templateOf('x'), metadata: { labels: { a: 'b' } } },
    },
  };
  await client.create(replicaSet, collidingSet);
  await client.create(deployment, deploymentOf({ replicas: 1 }));
  await settle(cluster);
  const { status } = await client.get(deployment, reference);
  assert.equal(status?.collisionCount, 1);
  assert.equal(status?.availableReplicas, 1);
});

test('a failed ReplicaSet creation is reported once, and retried with backoff', async () => {
  await using cluster = await startDeployments();
  const { client } = cluster;
  const hard = { 'count/replicasets.apps': '0' };
  const quota = await client.create(resourceQuota, {
    metadata: { name: 'none', namespace: 'default' },
    spec: { hard },
  });
  await client.update(resourceQuota, { ...quota, status: { hard, used: hard } }, { subresource: 'status' });
  await client.create(deployment, deploymentOf());
  await cluster.advance(60);
  assert.equal((await conditionsOf(cluster))['Progressing'], 'False ReplicaSetCreateError');
  const { metadata } = await client.get(deployment, reference);
  await cluster.advance(600);
  assert.equal((await client.get(deployment, reference)).metadata.resourceVersion, metadata.resourceVersion);
  const [events] = (await client.list(event, { namespace: 'default' })).items;
  assert.match(events?.message ?? '', /^Failed to create new replica set "web-\w+": .*exceeded quota: none/);
  assert.ok((events?.count ?? 0) < 25, `${events?.count} attempts`);

  await client.delete(resourceQuota, { namespace: 'default', name: 'none' });
  await cluster.advance(1000);
  assert.equal((await conditionsOf(cluster))['Progressing'], 'True NewReplicaSetAvailable');
});
