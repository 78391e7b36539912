import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { namespace } from '@kruise/api/core/namespace';
import {
  type PersistentPodStateSpec,
  persistentPodState,
  persistentPodStateV1alpha1,
} from '@kruise/api/kruise/persistentpodstate';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import { StatusError } from '@kruise/machinery/status';
import { startTestCluster, type TestCluster } from '../../testing/test-cluster.ts';

const targetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
const spec: PersistentPodStateSpec = { targetRef, requiredPersistentTopology: { keys: ['zone'] } };

const refused: readonly (readonly [string, PersistentPodStateSpec, RegExp])[] = [
  [
    'for nothing',
    { ...spec, targetRef: { apiVersion: '', kind: '', name: '' } },
    /^admission webhook "vpersistentpodstate.kb.io" denied the request: \[spec.targetRef: Invalid value: v1beta1.TargetReference\{.*\}: empty targetRef is not valid for PersistentPodState\., spec.targetRef: .*: targetRef.Kind must be StatefulSet or in PPS_Watch_Custom_Workload_WhiteList\]$/,
  ],
  [
    'for a Deployment',
    { ...spec, targetRef: { ...targetRef, kind: 'Deployment' } },
    /: spec.targetRef: Invalid value: v1beta1.TargetReference\{APIVersion:"apps\/v1", Kind:"Deployment", Name:"web"\}: targetRef.Kind must be StatefulSet or in PPS_Watch_Custom_Workload_WhiteList$/,
  ],
  [
    'without any topology',
    { targetRef, preferredPersistentTopology: [] },
    /: spec: Invalid value: v1beta1.PersistentPodStateSpec\{.*\}: TopologyConstraint and TopologyPreference cannot be empty at the same time$/,
  ],
];

const make = ({ client }: TestCluster, name: string, given: PersistentPodStateSpec, place = 'default') =>
  client.create(persistentPodState, { metadata: { name, namespace: place }, spec: given });

test('an invalid PersistentPodState is refused', async (t) => {
  await using cluster = await startTestCluster();
  for (const [is, given, message] of refused) {
    await t.test(`one ${is}`, () =>
      assert.rejects(make(cluster, 'web', given), (error) => {
        assert.ok(error instanceof StatusError);
        assert.match(error.message, message);
        return error.status.code === 400;
      }),
    );
  }
});

test('a workload has one PersistentPodState in its namespace, in any version', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await make(cluster, 'web', spec);
  await pass(1);
  const older = { ...spec, targetRef: { ...targetRef, apiVersion: 'apps/v1beta2' } };
  const message = /targetRef is in conflict with other PersistentPodState web$/;
  await assert.rejects(make(cluster, 'other', older), { message });
  await client.create(namespace, { metadata: { name: 'elsewhere' } });
  await make(cluster, 'other', spec, 'elsewhere');
  await make(cluster, 'another', { ...spec, targetRef: { ...targetRef, apiVersion: 'apps.kruise.io/v1beta1' } });
});

test('the target workload is immutable in both versions', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const reference = { name: 'web', namespace: 'default' };
  await make(cluster, 'web', spec);
  const message = /: spec.targetRef: Forbidden: targetRef is immutable$/;
  for (const kind of [persistentPodState, persistentPodStateV1alpha1]) {
    const patch = { spec: { targetRef: { name: 'other' } } };
    await assert.rejects(client.patch(kind, reference, patch, { type: 'merge' }), { message });
  }
  await updateWithRetry(client, persistentPodState, reference, (found) => ({
    ...found,
    spec: { ...found.spec, requiredPersistentTopology: { keys: ['rack', 'zone'] } },
  }));
  const { spec: older } = await client.get(persistentPodStateV1alpha1, reference);
  assert.deepEqual(older.requiredPersistentTopology?.nodeTopologyKeys, ['rack', 'zone']);
});

test('custom workloads are permitted by the allowlist, with keys in any case', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  const key = 'PPS_Watch_Custom_Workload_WhiteList';
  const reference = { name: 'kruise-configuration', namespace: 'kruise-system' };
  const listing = (text: string) => ({ metadata: reference, data: { [key]: text } });
  await client.create(configMap, listing('{"Workloads":[{"Group":"example.com","version":"v1","KIND":"Game"}]}'));
  await pass(1);
  const game = { ...spec, targetRef: { apiVersion: 'example.com/v2', kind: 'Game', name: 'chess' } };
  await make(cluster, 'chess', game);
  await assert.rejects(make(cluster, 'go', { ...game, targetRef: { ...game.targetRef, kind: 'Match' } }));
  for (const text of ['{"workloads":', '{"workloads":{}}', '{"workloads":[{"kind":1}]}', '[]']) {
    await updateWithRetry(client, configMap, reference, (found) => ({
      ...found,
      ...listing(text),
      metadata: found.metadata,
    }));
    await pass(1);
    const message = /: Internal error: failed to get persistent pod state config white list, error: /;
    await assert.rejects(make(cluster, 'go', spec), { message });
  }
});
