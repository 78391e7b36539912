/** Defects that users of Advanced DaemonSet reported, replayed by issue number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { daemonSet } from '@kruise/api/kruise/daemonset';
import { isConditionFalse } from '@kruise/machinery/conditions';
import { isPodActive } from '@kruise/machinery/pods';
import type { View } from '../view.ts';
import {
  broken,
  createWorkload,
  minute,
  names,
  newer,
  old,
  own,
  ready,
  rolling,
  startReplay,
  template,
  uids,
  withImage,
  withWorkload,
} from './replay.ts';

const inPlace = (rollingUpdate: object = {}) => rolling({ rollingUpdateType: 'InPlaceIfPossible', ...rollingUpdate });
const isUpdated = (count: number) => (view: View) => withImage(newer, ready(view)).length === count;
const onNode = (name: string) => (view: View) => own(view).filter(({ spec }) => spec?.nodeName === name);
const nodesOf = (pods: ReturnType<typeof own>) => pods.map(({ spec }) => spec?.nodeName).sort();

test('#2520: Pods of a DaemonSet that was created as v1alpha1 enqueue it', async () => {
  const replay = await withWorkload(daemonSet, rolling({ maxUnavailable: 1 }), { wanted: 3 });
  for (const { metadata } of own(replay.view())) {
    const [owner] = metadata.ownerReferences!;
    const ownerReferences = [{ ...owner, apiVersion: 'apps.kruise.io/v1alpha1' }];
    await replay.patchPod(metadata.name!, { metadata: { ownerReferences } });
  }
  await replay.update(newer);
  await replay.waitFor('all are updated', isUpdated(3));
});

test('#1014, #1012: an old Pod is deleted when the surge Pod has been ready for minReadySeconds', async () => {
  const spec = { ...rolling({ maxSurge: 1, maxUnavailable: 0 }), minReadySeconds: 10 };
  const replay = await withWorkload(daemonSet, spec, { wanted: 3 });
  await replay.advance(minute);
  await replay.update(newer);
  await replay.waitFor('all are updated', (view) => isUpdated(3)(view) && own(view).length === 3, 3 * minute);
});

test('#657: a Pod that does not terminate counts as only one unavailable Pod', async () => {
  const replay = await withWorkload(daemonSet, rolling({ maxUnavailable: 2 }), { wanted: 3 });
  const [stuck] = names(own(replay.view()));
  await replay.patchPod(stuck!, { metadata: { finalizers: ['example.com/stays'] } });
  await replay.deletePod(stuck!);
  let deletions = 0;
  replay.onManager(({ method, path }) => {
    if (method === 'DELETE' && path.endsWith(`/pods/${stuck}`)) deletions++;
  });
  await replay.update(newer);
  await replay.waitFor('the others are updated', isUpdated(2));
  assert.equal(deletions, 0);
});

test('#314: failed Pods are replaced and the rollout continues', async () => {
  const replay = await withWorkload(daemonSet, rolling({ maxUnavailable: 1 }), { wanted: 3 });
  const [failed] = names(own(replay.view()));
  await replay.patch(pod, failed!, { status: { phase: 'Failed' } }, 'status');
  await replay.update(newer);
  await replay.waitFor('all are updated', isUpdated(3), 3 * minute);
  assert.ok(!names(own(replay.view())).includes(failed!));
});

test('#444, #443: a Pod of a deleted node is deleted although it never started', async () => {
  const replay = await startReplay();
  await createWorkload(replay, daemonSet, { template: template(broken) });
  await replay.waitFor('there are Pods', (view) => own(view).length === 3);
  replay.world.crash('node-3', 60 * minute);
  await replay.advanceUntilSettled(replay.client().delete(node, { name: 'node-3' }));
  await replay.waitFor('its Pod is gone', (view) => onNode('node-3')(view).length === 0, 3 * minute);
});

test('#920: a node that newly matches the selector of the update is updated', async () => {
  const chosen = { selector: { matchLabels: { canary: 'yes' } }, maxUnavailable: 2 };
  const replay = await withWorkload(daemonSet, rolling(chosen), { wanted: 3 });
  await replay.update(newer);
  await replay.advance(minute);
  assert.equal(withImage(newer, own(replay.view())).length, 0);
  const label = (canary: string | null) =>
    replay.advanceUntilSettled(
      replay.client().patch(node, { name: 'node-2' }, { metadata: { labels: { canary } } }, { type: 'merge' }),
    );
  await label('yes');
  await replay.waitFor('it is updated', isUpdated(1));
  assert.deepEqual(nodesOf(withImage(newer, own(replay.view()))), ['node-2']);
});

test('#1871: a node that no longer matches the selector of the update keeps its Pod', async () => {
  const chosen = { selector: { matchLabels: { canary: 'yes' } } };
  const replay = await withWorkload(daemonSet, rolling(chosen), { wanted: 3 });
  const label = (canary: string | null) =>
    replay.advanceUntilSettled(
      replay.client().patch(node, { name: 'node-2' }, { metadata: { labels: { canary } } }, { type: 'merge' }),
    );
  await label('yes');
  await replay.update(newer);
  await replay.waitFor('one is updated', isUpdated(1));
  const before = uids(own(replay.view()));
  await label(null);
  await replay.advance(minute);
  assert.deepEqual(uids(own(replay.view())), before);
});

test('dacfbcd3f: a partition larger than the number of nodes keeps all Pods', async () => {
  const replay = await withWorkload(daemonSet, rolling({ partition: 5 }), { wanted: 3 });
  await replay.update(newer);
  await replay.advance(minute);
  assert.equal(withImage(old, ready(replay.view())).length, 3);
});

test('#815: a node in backoff does not block other nodes', async () => {
  const replay = await withWorkload(daemonSet, rolling({ maxUnavailable: 3 }), { wanted: 3 });
  const fail = async (name: string) => {
    const [found] = onNode(name)(replay.view()).filter(isPodActive);
    await replay.patch(pod, found!.metadata.name!, { status: { phase: 'Failed' } }, 'status');
  };
  // After the first failures, its Pods are replaced with backoff.
  for (let count = 0; count < 3; count++) {
    await fail('node-1');
    await replay.waitFor('it is replaced', (view) => onNode('node-1')(view).some(isPodActive), 3 * minute);
  }
  await fail('node-1');
  const [other] = names(onNode('node-2')(replay.view()));
  await replay.deletePod(other!);
  await replay.waitFor('the other node has another', (view) => {
    const present = names(onNode('node-2')(view).filter(isPodActive));
    return present.length === 1 && present[0] !== other;
  });
});

test('#1007: with only maxSurge set, no Pod becomes unavailable', async () => {
  let least = 3;
  const covered = (view: View) => new Set(nodesOf(ready(view))).size;
  const replay = await withWorkload(daemonSet, rolling({ maxSurge: 1, maxUnavailable: 0 }), {
    wanted: 3,
    watch: (view) => {
      least = Math.min(least, covered(view));
    },
  });
  await replay.update(newer);
  await replay.waitFor('all are updated', (view) => isUpdated(3)(view) && own(view).length === 3, 2 * minute);
  assert.equal(least, 3);
});

test('#713: a manager with a stale cache respects maxUnavailable', async () => {
  let most = 0;
  const replay = await withWorkload(daemonSet, inPlace({ maxUnavailable: 1 }), {
    wanted: 3,
    watch(view) {
      const taken = own(view).filter(({ status }) => isConditionFalse(status?.conditions, 'InPlaceUpdateReady'));
      most = Math.max(most, taken.length);
    },
  });
  const before = uids(own(replay.view()));
  replay.world.setNetworkConditions('manager', { watchLagMs: 5000 });
  await replay.update(newer);
  await replay.waitFor('all are updated', isUpdated(3), 5 * minute);
  assert.equal(most, 1);
  assert.deepEqual(uids(own(replay.view())), before);
});

test('d9b82027c: Pods of nodes that no longer fit do not count against maxUnavailable', async () => {
  const replay = await withWorkload(daemonSet, rolling({ maxUnavailable: 1 }), { wanted: 3 });
  const [first] = names(onNode('node-1')(replay.view()));
  await replay.patchPod(first!, { metadata: { finalizers: ['example.com/stays'] } });
  const expressions = [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['node-1'] }];
  const affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: expressions }] },
    },
  };
  await replay.update(newer, { spec: { affinity } });
  await replay.waitFor('the others are updated', isUpdated(2), 2 * minute);
});

test('#1505: the selector is immutable', async () => {
  const replay = await withWorkload(daemonSet, {}, { wanted: 3 });
  await assert.rejects(
    replay.change({
      selector: { matchLabels: { app: 'other' } },
      template: template(old, { labels: { app: 'other' } }),
    }),
    /updates to daemonset spec for fields other than/,
  );
});
