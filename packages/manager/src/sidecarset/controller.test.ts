import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validatingAdmissionPolicy } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import { validatingAdmissionPolicyBinding } from '@kruise/api/admissionregistration/validatingadmissionpolicybinding';
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { pod } from '@kruise/api/core/pod';
import { sidecarSet } from '@kruise/api/kruise/sidecarset';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';
import { setOf, side } from './fixtures.ts';

const { metadata: _, ...given } = setOf();
const written = { ...given, metadata: { name: 'set' } };

async function historyOf({ client }: TestCluster): Promise<readonly (readonly [string, number])[]> {
  const { items } = await client.list(controllerRevision, { namespace: 'kruise-system' });
  return items.map(({ metadata, revision }) => [metadata.name ?? '', Number(revision)]);
}

async function setImage({ client }: TestCluster, image: string): Promise<void> {
  await client.patch(sidecarSet, { name: 'set' }, { spec: { containers: [side({ image })] } }, { type: 'merge' });
}

test("a SidecarSet keeps its history in the manager's namespace", async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(sidecarSet, written);
  await cluster.pass(1);
  const [first] = await historyOf(cluster);
  const { status } = await client.get(sidecarSet, { name: 'set' });
  assert.deepEqual(status, {
    observedGeneration: 1,
    matchedPods: 0,
    updatedPods: 0,
    readyPods: 0,
    latestRevision: first?.[0],
    collisionCount: 0,
  });
  await setImage(cluster, 'side:v3');
  await cluster.pass(1);
  assert.deepEqual((await historyOf(cluster)).map(([, revision]) => revision).sort(), [1, 2]);
  await setImage(cluster, 'side:v2');
  await cluster.pass(1);
  assert.deepEqual(new Map(await historyOf(cluster)).get(first?.[0] ?? ''), 3);
  assert.equal((await client.get(sidecarSet, { name: 'set' })).status?.latestRevision, first?.[0]);
});

const podWithName = (name: string) => ({
  metadata: { name, namespace: 'default', labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'app:v1' }] },
});

/** Runs kubelets and the manager until neither changes anything any more. */
async function settle(cluster: TestCluster): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await cluster.runPods();
}

test('Pods get their sidecars at admission, and new images in place', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(sidecarSet, written);
  await cluster.pass(1);
  for (const name of ['a', 'b', 'c']) await client.create(pod, podWithName(name));
  await settle(cluster);
  const figures = async () => {
    const { status } = await client.get(sidecarSet, { name: 'set' });
    return [status?.matchedPods, status?.updatedPods, status?.readyPods, status?.updatedReadyPods];
  };
  assert.deepEqual(await figures(), [3, 3, 3, 3]);
  await setImage(cluster, 'side:v3');
  await cluster.pass(1);
  // maxUnavailable is 1, and the kubelet has not restarted the sidecar yet.
  assert.deepEqual(await figures(), [3, 1, 2, undefined]);
  await settle(cluster);
  assert.deepEqual(await figures(), [3, 3, 3, 3]);
  const { items } = await client.list(pod, { namespace: 'default' });
  assert.deepEqual(
    items.map(({ spec }) => spec?.containers.map(({ image }) => image)),
    Array.from({ length: 3 }, () => ['side:v3', 'app:v1']),
  );
});

test('a deleted Pod does not count', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(sidecarSet, written);
  await cluster.pass(1);
  await client.create(pod, podWithName('a'));
  await settle(cluster);
  await client.delete(pod, { name: 'a', namespace: 'default' }, { gracePeriodSeconds: 0 });
  await cluster.pass(1);
  assert.equal((await client.get(sidecarSet, { name: 'set' })).status?.matchedPods, 0);
});

test('an image that a policy denies is retried with growing backoff, and set once it is allowed', async () => {
  await using cluster = await startTestCluster();
  const { client, managerWrites } = cluster;
  await client.create(sidecarSet, written);
  await cluster.pass(1);
  for (const name of ['a', 'b', 'c']) await client.create(pod, podWithName(name));
  await settle(cluster);
  const metadata = { name: 'deny-image' };
  const operations = ['UPDATE'] as const;
  await client.create(validatingAdmissionPolicy, {
    metadata,
    spec: {
      matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations, resources: ['pods'] }] },
      validations: [{ expression: "object.spec.containers.all(c, c.image != 'side:v3')" }],
    },
  });
  const binding = { policyName: metadata.name, validationActions: ['Deny'] as const };
  await client.create(validatingAdmissionPolicyBinding, { metadata, spec: binding });
  const from = managerWrites.length;
  await setImage(cluster, 'side:v3');
  for (let second = 0; second < 60; second++) await cluster.runPods();
  const toPods = managerWrites.slice(from).filter(({ what }) => what.startsWith('PATCH pods'));
  assert.equal(toPods.length, 6);
  assert.ok(toPods.every(({ isDryRun }) => isDryRun));

  await client.delete(validatingAdmissionPolicyBinding, metadata);
  for (let second = 0; second < 60; second++) await cluster.runPods();
  const { items } = await client.list(pod, { namespace: 'default' });
  const images = items.map(({ spec }) => spec?.containers.find(({ name }) => name === 'side')?.image);
  assert.deepEqual(images, ['side:v3', 'side:v3', 'side:v3']);
});
