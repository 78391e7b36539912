import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statefulSet } from '@kruise/api/apps/statefulset';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type PersistentPodStateSpec, persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { startTestCluster, type TestCluster } from '../../testing/test-cluster.ts';

const targetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
const owner = { ...targetRef, uid: 'u', controller: true };
const place = { name: 'places', namespace: 'default' };
const labels = { zone: 'north', host: 'a' };

/** Records the topology of two Pods of a workload, and waits until the caches show it. */
async function remember({ client, pass }: TestCluster, spec: Partial<PersistentPodStateSpec>) {
  const selector = { matchLabels: { app: 'web' } };
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app' }] } };
  await client.create(statefulSet, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: 3, selector, serviceName: 'web', template },
  });
  await pass(1);
  await client.create(persistentPodState, { metadata: place, spec: { targetRef, ...spec } });
  await pass(1);
  const podStates = { 'web-0': { nodeName: 'a', nodeTopologyLabels: labels }, 'web-1': { nodeName: 'a' } };
  const status = { observedGeneration: 1, podStates };
  await client.patch(persistentPodState, place, { status }, { type: 'merge', subresource: 'status' });
  await pass(1);
}

const newPod = (name: string, change: Partial<Pod['spec']> = {}, ownerReferences: readonly object[] = [owner]) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ownerReferences },
    spec: { containers: [{ name: 'main', image: 'app' }], ...change },
  }) as Pod;

/** Returns the node affinity and annotations of a new Pod. */
async function wishes({ client }: TestCluster, given: Pod) {
  const { metadata, spec } = await client.create(pod, given, { dryRun: true });
  return {
    by: metadata.annotations?.['kruise.io/injected-persistent-pod-state'],
    nodeSelector: spec?.nodeSelector,
    affinity: spec?.affinity,
  };
}
const none = { by: undefined, nodeSelector: undefined, affinity: undefined };

const term = (key: string, value: string) => ({ matchExpressions: [{ key, operator: 'In', values: [value] }] });
const requiredTerms = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'Exists' as const }] }] };

test('a Pod gets affinity to the topology of the previous Pod of its name', async (t) => {
  await using cluster = await startTestCluster();
  const preferredPersistentTopology = [
    { weight: 7, preference: { keys: ['host', 'missing'] } },
    { weight: 3, preference: { keys: ['missing'] } },
  ];
  await remember(cluster, { requiredPersistentTopology: { keys: ['zone', 'missing'] }, preferredPersistentTopology });

  await t.test('a Pod gets required and preferred node labels', async () => {
    assert.deepEqual(await wishes(cluster, newPod('web-0')), {
      by: 'places',
      nodeSelector: { zone: 'north' },
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 7, preference: term('host', 'a') },
            { weight: 3, preference: {} },
          ],
        },
      },
    });
  });
  await t.test('a Pod keeps its own affinity in addition', async () => {
    const preferred = { weight: 1, preference: term('disk', 'ssd') } as const;
    const asked = await wishes(
      cluster,
      newPod('web-0', {
        nodeSelector: { zone: 'south', arch: 'arm64' },
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: requiredTerms,
            preferredDuringSchedulingIgnoredDuringExecution: [preferred as never],
          },
        },
      }),
    );
    assert.deepEqual(asked.nodeSelector, { zone: 'north', arch: 'arm64' });
    const { nodeAffinity } = asked.affinity ?? {};
    assert.deepEqual(nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution, requiredTerms);
    assert.deepEqual(
      nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.map(({ weight }) => weight),
      [1, 7, 3],
    );
  });
  const others: readonly (readonly [string, Pod])[] = [
    ['of another name', newPod('web-2')],
    ['of which no labels are known', newPod('web-1')],
    ['without an owner', newPod('web-0', {}, [])],
    ['of another workload', newPod('web-0', {}, [{ ...owner, name: 'other' }])],
    ['of a StatefulSet of Kruise', newPod('web-0', {}, [{ ...owner, apiVersion: 'apps.kruise.io/v1beta1' }])],
  ];
  for (const [is, given] of others) {
    await t.test(`a Pod ${is} gets no affinity`, async () => assert.deepEqual(await wishes(cluster, given), none));
  }
});

test('a key that the node did not have adds no affinity', async () => {
  await using cluster = await startTestCluster();
  await remember(cluster, { requiredPersistentTopology: { keys: ['missing'] } });
  assert.deepEqual(await wishes(cluster, newPod('web-0')), none);
});
