/** Defects that users of Advanced StatefulSet reported, replayed by issue number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { statefulSet } from '@kruise/api/kruise/statefulset';
import { isConditionFalse } from '@kruise/machinery/conditions';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodReady } from '@kruise/machinery/pods';
import type { View } from '../view.ts';
import {
  active,
  asWorkload,
  at,
  broken,
  claims,
  createWorkload,
  fitGated,
  inPlace,
  isRunning,
  minute,
  names,
  newer,
  old,
  own,
  ready,
  rolling,
  startReplay,
  stateOf,
  stored,
  template,
  uids,
  withImage,
  withWorkload,
} from './replay.ts';

const parallel = { podManagementPolicy: 'Parallel' };
const gated = { spec: { readinessGates: [{ conditionType: 'InPlaceUpdateReady' }] } };
const claimNames = (view: View) =>
  view
    .list(persistentVolumeClaim)
    .map(({ metadata }) => metadata.name)
    .sort();
const isUpdated = (count: number) => (view: View) => withImage(newer, ready(view)).length === count;

test('#2109: a Pod that does not terminate does not block others with the Parallel policy', async () => {
  const replay = await withWorkload(
    statefulSet,
    { replicas: 4, ...parallel, ...rolling({ maxUnavailable: '100%' }) },
    { wanted: 4 },
  );
  await replay.patchPod('web-0', { metadata: { finalizers: ['example.com/stays'] } });
  for (const name of ['web-0', 'web-2', 'web-3']) await replay.deletePod(name);
  await replay.waitFor('the others are back', (view) => ready(view).length === 3);
  assert.deepEqual(names(ready(replay.view())), ['web-1', 'web-2', 'web-3']);
});

test('#1480: every unavailable Pod counts, whatever its ordinal', async () => {
  const replay = await withWorkload(
    statefulSet,
    { replicas: 3, ...parallel, ...rolling({ maxUnavailable: 1 }), template: template(old, fitGated) },
    { wanted: 0 },
  );
  await replay.waitFor('all run', (view) => own(view).filter(isRunning).length === 3);
  for (const name of ['web-0', 'web-1', 'web-2']) await replay.setFit(name, true);
  await replay.waitFor('all are ready', (view) => ready(view).length === 3);
  await replay.setFit('web-0', false);
  await replay.waitFor('one is not', (view) => ready(view).length === 2);
  await replay.update(newer, fitGated);
  await replay.advance(minute);
  assert.deepEqual(names(ready(replay.view())), ['web-1', 'web-2']);
  await replay.setFit('web-0', true);
  await replay.waitFor('the last is updated', (view) => names(withImage(newer, own(view))).includes('web-2'));
});

test('#1136, #1134: a fixed template is rolled out to Pods that never started', async () => {
  const replay = await startReplay();
  const spec = { ...parallel, scaleStrategy: { maxUnavailable: '100%' }, ...rolling({ maxUnavailable: '100%' }) };
  await createWorkload(replay, statefulSet, { replicas: 3, ...spec, template: template(broken) });
  await replay.waitFor('there are Pods', (view) => own(view).length === 3);
  await replay.advance(minute);
  await asWorkload(replay, statefulSet).update(newer);
  await replay.waitFor('they start', isUpdated(3));
});

test('#845, #844: a manager with a stale cache respects maxUnavailable', async () => {
  let most = 0;
  const replay = await withWorkload(
    statefulSet,
    { replicas: 5, ...parallel, ...inPlace({ maxUnavailable: 2 }), template: template(old, gated) },
    {
      wanted: 5,
      watch(view) {
        const taken = own(view).filter(({ status }) => isConditionFalse(status?.conditions, 'InPlaceUpdateReady'));
        most = Math.max(most, taken.length);
      },
    },
  );
  const before = uids(own(replay.view()));
  replay.world.setNetworkConditions('manager', { watchLagMs: 5000 });
  await replay.update(newer, gated);
  await replay.waitFor('all are updated', isUpdated(5), 5 * minute);
  assert.equal(most, 2);
  assert.deepEqual(uids(own(replay.view())), before);
});

test('#1819, #1751: a partition counts Pods, whatever their ordinals', async () => {
  const reserved = { replicas: 4, reserveOrdinals: [0, 2], ...rolling({ partition: 2 }) };
  const replay = await withWorkload(statefulSet, reserved, { wanted: 4 });
  await replay.update(newer);
  await replay.waitFor('two are updated', isUpdated(2));
  await replay.advance(minute);
  assert.deepEqual(names(withImage(newer, ready(replay.view()))), ['web-4', 'web-5']);
  await replay.deletePod('web-3');
  await replay.waitFor('it is back', (view) => ready(view).length === 4);
  assert.deepEqual(names(withImage(old, ready(replay.view()))), ['web-1', 'web-3']);
});

test('#1531, #1530: PVCs of ordinals out of range are deleted, with reserved ordinals taken into account', async () => {
  const replay = await withWorkload(
    statefulSet,
    {
      replicas: 3,
      reserveOrdinals: [0],
      volumeClaimTemplates: claims,
      template: template(old, stored),
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
    },
    { wanted: 3 },
  );
  await replay.change({ replicas: 2 });
  await replay.waitFor('a claim is gone', (view) => claimNames(view).length === 2);
  assert.deepEqual(claimNames(replay.view()), ['data-web-1', 'data-web-2']);
});

test('#746: an ordinal that is no longer reserved and not desired gets no Pod', async () => {
  const replay = await withWorkload(statefulSet, { replicas: 3, reserveOrdinals: [3, 4, 5] }, { wanted: 3 });
  await replay.change({ reserveOrdinals: [4, 5] });
  await replay.advance(minute);
  assert.deepEqual(names(own(replay.view())), ['web-0', 'web-1', 'web-2']);
  await replay.change({ replicas: 5 });
  await replay.waitFor('there are five', (view) => ready(view).length === 5);
  assert.deepEqual(names(own(replay.view())), ['web-0', 'web-1', 'web-2', 'web-3', 'web-6']);
});

test('#2086: reserveOrdinals accepts ranges and single ordinals', async () => {
  const replay = await withWorkload(statefulSet, { replicas: 3, reserveOrdinals: [0, '2-4'] }, { wanted: 3 });
  assert.deepEqual(names(own(replay.view())), ['web-1', 'web-5', 'web-6']);
});

test('#1189, #1128: an updateStrategy without a type keeps its rollingUpdate', async () => {
  const spec = { replicas: 3, updateStrategy: { rollingUpdate: { partition: 3 } } };
  const replay = await withWorkload(statefulSet, spec, { wanted: 3 });
  await replay.update(newer);
  await replay.advance(minute);
  assert.equal(withImage(old, ready(replay.view())).length, 3);
});

test('f13d89564: a Pod at an older revision has no fields of the newer one', async () => {
  const replay = await withWorkload(statefulSet, { replicas: 2, ...rolling({ partition: 1 }) }, { wanted: 2 });
  await replay.update(newer, { spec: { hostname: undefined, priorityClassName: 'system-node-critical' } });
  await replay.waitFor('one is updated', isUpdated(1));
  await replay.deletePod('web-0');
  await replay.waitFor('it is back', (view) => ready(view).length === 2);
  const [outdated] = withImage(old, own(replay.view()));
  assert.equal(outdated?.metadata.name, 'web-0');
  assert.notEqual(outdated?.spec?.priorityClassName, 'system-node-critical');
});

test('#201, #267: a rollout continues if a percentage of maxUnavailable rounds to zero', async () => {
  const spec = { replicas: 3, ...parallel, ...rolling({ maxUnavailable: '20%' }) };
  const replay = await withWorkload(statefulSet, spec, { wanted: 3 });
  await replay.update(newer);
  await replay.waitFor('all are updated', isUpdated(3));
});

test('#240: Pods are updated in descending order of ordinals, and orphaned revisions are adopted', async () => {
  const order: string[] = [];
  const replay = await withWorkload(
    statefulSet,
    { replicas: 4 },
    {
      wanted: 4,
      watch: (view) => order.push(...names(withImage(newer, own(view))).filter((name) => !order.includes(name))),
    },
  );
  const [revision] = replay.view().list(controllerRevision);
  await replay.patch(controllerRevision, revision!.metadata.name!, { metadata: { ownerReferences: null } });
  await replay.update(newer);
  await replay.waitFor('all are updated', isUpdated(4), 2 * minute);
  assert.deepEqual(order, ['web-3', 'web-2', 'web-1', 'web-0']);
  const owners = replay.view().list(controllerRevision).map(controllerOf);
  assert.deepEqual(new Set(owners.map((owner) => owner?.name)), new Set(['web']));
});

test('#880, #879: an ordered StatefulSet scales in a Pod only after it was available', async () => {
  const goneAt = new Map<string, number>();
  const replay = await withWorkload(
    statefulSet,
    { replicas: 3, ...rolling({ minReadySeconds: 10 }) },
    {
      wanted: 3,
      watch(view) {
        for (const { metadata } of own(view)) {
          if (metadata.deletionTimestamp && !goneAt.has(metadata.uid!)) goneAt.set(metadata.uid!, view.now);
        }
      },
    },
  );
  await replay.advance(minute);
  await replay.deletePod('web-1');
  await replay.waitFor('it is back', (view) => ready(view).length === 3);
  const readyAt = replay.world.clock.now();
  const back = own(replay.view()).find(({ metadata }) => metadata.name === 'web-1');
  await replay.change({ replicas: 1 });
  await replay.waitFor('one is left', (view) => own(view).length === 1);
  // Times have whole seconds.
  assert.ok(goneAt.get(back!.metadata.uid!)! - readyAt >= 8000);
});

test('#999, #997: a StatefulSet without a PVC retention policy retains its PVCs', async () => {
  let isOpen = false;
  const gates = () => ({ StatefulSetAutoDeletePVC: isOpen });
  const spec = { replicas: 2, volumeClaimTemplates: claims, template: template(old, stored) };
  const replay = await withWorkload(statefulSet, spec, { wanted: 2, gates });
  assert.equal(replay.view().list(statefulSet)[0]?.spec.persistentVolumeClaimRetentionPolicy, undefined);
  isOpen = true;
  replay.world.crash('manager', 1000);
  await replay.advance(minute);
  await replay.change({ replicas: 1 });
  await replay.waitFor('one is left', (view) => own(view).length === 1);
  await replay.advance(minute);
  assert.deepEqual(claimNames(replay.view()), ['data-web-0', 'data-web-1']);
});

test('#489, #108, #1502: a StatefulSet that was created without defaults is reconciled', async () => {
  const replay = await startReplay({ managerAwayMs: 5000 });
  await createWorkload(replay, statefulSet, { replicas: 2 });
  assert.equal(replay.view().list(statefulSet)[0]?.spec.updateStrategy, undefined);
  await replay.waitFor('its Pods are ready', (view) => ready(view).length === 2, 2 * minute);
});

test('#2257: PVCs have the labels of their template', async () => {
  const [claim] = claims;
  const labelled = [{ ...claim, metadata: { name: 'data', labels: { own: 'label' } } }];
  const spec = { replicas: 1, volumeClaimTemplates: labelled, template: template(old, stored) };
  const replay = await withWorkload(statefulSet, spec, { wanted: 1 });
  const [made] = replay.view().list(persistentVolumeClaim);
  assert.deepEqual(made?.metadata.labels, { app: 'web', own: 'label' });
});

test('#353: the status is updated when only availableReplicas has changed', async () => {
  const replay = await withWorkload(statefulSet, { replicas: 1, ...rolling({ minReadySeconds: 10 }) }, { wanted: 1 });
  const statusOf = (view: View) => view.list(statefulSet)[0]?.status;
  assert.equal(statusOf(replay.view())?.availableReplicas, 0);
  await replay.waitFor('it is available', (view) => statusOf(view)?.availableReplicas === 1);
});

const hold = { 'example.com/hold': 'yes' };
const held = { replicas: 2, lifecycle: { preDelete: { labelsHandler: hold } } };

test('#962, #950: preDelete hooks apply to updates and to scale-in', async () => {
  const replay = await withWorkload(statefulSet, { ...held, template: template(old, { labels: hold }) }, { wanted: 2 });
  const before = uids(own(replay.view()));
  await replay.update(newer, { labels: hold });
  await replay.waitFor('one is held', (view) => own(view).some((each) => stateOf(each) === 'PreparingDelete'));
  await replay.advance(minute);
  assert.deepEqual(uids(active(replay.view())), before);
  await replay.patchPod('web-1', { metadata: { labels: { 'example.com/hold': null } } });
  await replay.waitFor('it is replaced', isUpdated(1));
});

test('#1662: a Pod in PreparingDelete is deleted although no replacement can be scheduled', async () => {
  const spec = { ...held, ...parallel, ...rolling({ maxUnavailable: 1 }), template: template(old, { labels: hold }) };
  const replay = await withWorkload(statefulSet, spec, { wanted: 2 });
  const letGo = (name: string) => replay.patchPod(name, { metadata: { labels: { 'example.com/hold': null } } });
  const isHeld = (name: string) => (view: View) =>
    own(view).some((each) => each.metadata.name === name && stateOf(each) === 'PreparingDelete');
  await replay.update(newer, { labels: hold });
  await replay.waitFor('the last is held', isHeld('web-1'));
  await letGo('web-1');
  await replay.waitFor('the first is held', isHeld('web-0'));
  await replay.update('nginx:1.27', { labels: hold });
  await replay.advance(minute);
  await letGo('web-0');
  await replay.waitFor('it is updated', (view) => names(withImage('nginx:1.27', ready(view))).includes('web-0'));
});

test('#2343, #1389: Pods get a newly added PVC template when they are recreated', async () => {
  const replay = await withWorkload(statefulSet, { replicas: 2 }, { wanted: 2 });
  await replay.change({ volumeClaimTemplates: claims, template: template(newer, stored) });
  await replay.waitFor('all are replaced', isUpdated(2), 2 * minute);
  assert.deepEqual(claimNames(replay.view()), ['data-web-0', 'data-web-1']);
  assert.deepEqual(replay.view().list(statefulSet)[0]?.status?.conditions ?? [], []);
});

test('#995: a StatefulSet without a status is valid', async () => {
  const replay = await startReplay();
  const made = {
    metadata: at,
    spec: { selector: { matchLabels: { app: 'web' } }, template: template(old) },
    status: {},
  };
  await replay.advanceUntilSettled(replay.client().create(statefulSet, made as never));
  await replay.waitFor('it is looked after', (view) => own(view).some(isPodReady));
});
