import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { type SidecarSetSpec, sidecarSet, sidecarSetV1alpha1 } from '@kruise/api/kruise/sidecarset';
import { startTestCluster, type TestCluster } from '../../testing/test-cluster.ts';

const selector = { matchLabels: { app: 'web' } };
const side = (image = 'side:v1', name = 'side') => ({ name, image });

async function makeSet({ client, pass }: TestCluster, spec: SidecarSetSpec = {}, name = 'set', annotations = {}) {
  const whole = { selector, containers: [side()], ...spec };
  await client.create(sidecarSet, { metadata: { name, annotations }, spec: whole });
  await pass(1);
}

async function change({ client, pass }: TestCluster, spec: SidecarSetSpec) {
  await client.patch(sidecarSet, { name: 'set' }, { spec }, { type: 'merge' });
  await pass(1);
}

let made = 0;

/** Returns the images of a new Pod. */
async function imagesOfNewPod({ client }: TestCluster, labels: { readonly [key: string]: string } = {}) {
  const { spec } = await client.create(pod, {
    metadata: { name: `pod-${made++}`, namespace: 'default', labels: { app: 'web', ...labels } },
    spec: { containers: [{ name: 'main', image: 'app' }] },
  });
  return (spec?.containers ?? []).map(({ image }) => image).join(' ');
}

const matching: { is: string; spec: SidecarSetSpec; images: string }[] = [
  { is: 'for these Pods', spec: {}, images: 'side:v1 app' },
  { is: 'for other Pods', spec: { selector: { matchLabels: { app: 'x' } } }, images: 'app' },
  {
    is: 'for this namespace',
    spec: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } },
    images: 'side:v1 app',
  },
  { is: 'for other namespaces', spec: { namespaceSelector: { matchLabels: { inject: 'yes' } } }, images: 'app' },
  { is: 'paused', spec: { injectionStrategy: { paused: true } }, images: 'app' },
];
for (const { is, spec, images } of matching) {
  test(`a SidecarSet that is ${is} makes a Pod have the images ${images}`, async () => {
    await using cluster = await startTestCluster();
    await makeSet(cluster, spec);
    assert.equal(await imagesOfNewPod(cluster), images);
  });
}

test('a namespace is selected once it is labelled', async () => {
  await using cluster = await startTestCluster();
  await makeSet(cluster, { namespaceSelector: { matchLabels: { inject: 'yes' } } });
  await cluster.client.patch(
    namespace,
    { name: 'default' },
    { metadata: { labels: { inject: 'yes' } } },
    { type: 'merge' },
  );
  await cluster.pass(1);
  assert.equal(await imagesOfNewPod(cluster), 'side:v1 app');
});

test('a SidecarSet of v1alpha1 selects a namespace by name', async () => {
  await using cluster = await startTestCluster();
  const spec = { selector, namespace: 'default', containers: [side()] };
  await cluster.client.create(sidecarSetV1alpha1, { metadata: { name: 'set' }, spec });
  await cluster.pass(1);
  assert.equal(await imagesOfNewPod(cluster), 'side:v1 app');
});

test('SidecarSets that name namespaces are applied first', async () => {
  await using cluster = await startTestCluster({ EnableSortSidecarContainerByName: false });
  await makeSet(cluster, { containers: [side('a:v1', 'a')] }, 'a');
  const namespaceSelector = {
    matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['default'] }],
  };
  await makeSet(cluster, { containers: [side('z:v1', 'z')], namespaceSelector }, 'z');
  assert.equal(await imagesOfNewPod(cluster), 'z:v1 a:v1 app');
});

test('a canary replaces its base', async () => {
  await using cluster = await startTestCluster();
  await makeSet(cluster, { updateStrategy: { type: 'NotUpdate' } });
  await makeSet(cluster, { containers: [side('side:v2')], updateStrategy: { type: 'NotUpdate' } }, 'trial', {
    'apps.kruise.io/sidecarset-canary': 'true',
    'apps.kruise.io/sidecarset-base': 'set',
  });
  assert.equal(await imagesOfNewPod(cluster), 'side:v2 app');
});

const canary = { selector: { matchLabels: { track: 'canary' } } };
const revisions: {
  name: string;
  policy?: 'Always' | 'Partial';
  update?: SidecarSetSpec['updateStrategy'];
  labels?: { readonly [key: string]: string };
  images: string;
}[] = [
  { name: 'the selected revision', images: 'side:v1 app' },
  {
    name: 'the present one for chosen Pods',
    policy: 'Partial',
    update: canary,
    labels: { track: 'canary' },
    images: 'side:v2 app',
  },
  { name: 'a former one for others', policy: 'Partial', update: canary, images: 'side:v1 app' },
  { name: 'a former one with all held back', policy: 'Partial', update: { partition: '100%' }, images: 'side:v1 app' },
  {
    name: 'the present one with a number held back',
    policy: 'Partial',
    update: { partition: 5 },
    images: 'side:v2 app',
  },
  {
    name: 'a former one while paused',
    policy: 'Partial',
    update: { paused: true, partition: '0%' },
    images: 'side:v1 app',
  },
];
for (const { name, policy = 'Always', update = {}, labels = {}, images } of revisions) {
  test(`new Pods get ${name}`, async () => {
    await using cluster = await startTestCluster();
    await makeSet(cluster, { customVersion: 'one' });
    await change(cluster, { customVersion: 'two', containers: [side('side:v2')] });
    await change(cluster, {
      injectionStrategy: { revision: { customVersion: 'one', policy } },
      updateStrategy: update,
    });
    assert.equal(await imagesOfNewPod(cluster, labels), images);
  });
}

test('a sidecar with a launch priority makes the containers of the Pod wait', async () => {
  await using cluster = await startTestCluster();
  const env = [{ name: 'KRUISE_CONTAINER_PRIORITY', value: '1' }];
  await makeSet(cluster, { containers: [{ ...side(), env }] });
  await imagesOfNewPod(cluster);
  const { items } = await cluster.client.list(pod, { namespace: 'default' });
  const barriers = items[0]?.spec?.containers.map(
    ({ env: given = [] }) => given.at(-1)?.valueFrom?.configMapKeyRef?.key,
  );
  assert.deepEqual(barriers, ['p_1', 'p_0']);
});

test('a Pod is refused if the selected revision is gone', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await makeSet(cluster, { customVersion: 'one' });
  await change(cluster, { injectionStrategy: { revision: { customVersion: 'one' } } });
  const { items } = await client.list(controllerRevision, { namespace: 'kruise-system' });
  for (const { metadata } of items)
    await client.delete(controllerRevision, { namespace: 'kruise-system', name: metadata.name ?? '' });
  await cluster.pass(1);
  await assert.rejects(imagesOfNewPod(cluster), /ControllerRevision.apps "set" not found/);
});
