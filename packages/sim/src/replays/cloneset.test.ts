/** Defects that users of CloneSet reported, replayed by issue number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { resourceQuota } from '@kruise/api/core/resourcequota';
import { cloneSet, cloneSetV1alpha1 } from '@kruise/api/kruise/cloneset';
import { isPodFinished, isPodReady } from '@kruise/machinery/pods';
import type { View } from '../view.ts';
import {
  active,
  asWorkload,
  broken,
  claims,
  createWorkload,
  fitGated,
  inPlace,
  isRunning,
  minute,
  names,
  namespace,
  newer,
  old,
  own,
  ready,
  restartsOf,
  rolling,
  startReplay,
  stored,
  template,
  uids,
  type WorkloadReplay,
  withImage,
  withWorkload,
} from './replay.ts';

/** Returns a cluster with a CloneSet whose Pods are all ready; `watch` receives each state. */
function withCloneSet(
  spec: { readonly replicas?: number; readonly [field: string]: unknown },
  watch: (view: View) => void = () => {},
): Promise<WorkloadReplay> {
  return withWorkload(cloneSet, spec, { wanted: spec.replicas ?? 1, watch });
}
const statusOf = (view: View) => view.list(cloneSet)[0]?.status;
const isUpdated = (count: number) => (view: View) => withImage(newer, ready(view)).length === count;
const mark = { metadata: { labels: { 'apps.kruise.io/specified-delete': 'true' } } };

test('#316: a CloneSet with maxSurge rounds maxUnavailable down', async () => {
  let least = 1;
  const stage = await withCloneSet({ replicas: 1, ...rolling({ maxSurge: '50%', maxUnavailable: '10%' }) }, (view) => {
    least = Math.min(least, ready(view).length);
  });
  await stage.update(newer);
  await stage.waitFor('it is updated', (view) => own(view).length === 1 && withImage(newer, ready(view)).length === 1);
  assert.equal(least, 1);
});

test('#286, #285: a CloneSet surges by at most the number of Pods to update', async () => {
  let most = 8;
  const strategy = rolling({ partition: 6, maxSurge: '50%', maxUnavailable: 0 });
  const stage = await withCloneSet({ replicas: 8, ...strategy }, (view) => {
    most = Math.max(most, active(view).length);
  });
  await stage.update(newer);
  await stage.advance(minute);
  assert.equal(most, 10);
  assert.equal(withImage(newer, ready(stage.view())).length, 2);
  assert.equal(withImage(old, ready(stage.view())).length, 6);
});

test('#260, #266: no surplus Pod is left once the partition is reached', async () => {
  const stage = await withCloneSet({
    replicas: 8,
    ...rolling({ maxSurge: '10%', maxUnavailable: '10%', partition: 5 }),
  });
  await stage.update(newer);
  await stage.advance(minute);
  assert.equal(withImage(newer, active(stage.view())).length, 3);
  assert.equal(active(stage.view()).length, 8);
});

test('#259: available surge Pods allow the deletion of old Pods', async () => {
  const strategy = rolling({ maxUnavailable: 0, maxSurge: 2 });
  const stage = await withCloneSet({ replicas: 5, minReadySeconds: 10, ...strategy });
  await stage.advance(minute);
  await stage.update(newer);
  await stage.waitFor(
    'all are updated',
    (view) => active(view).length === 5 && withImage(newer, ready(view)).length === 5,
    5 * minute,
  );
});

test('#376: a rollback deletes the Pod that never started and keeps the healthy one', async () => {
  const stage = await withCloneSet({ replicas: 1, ...rolling({ maxSurge: '50%', maxUnavailable: '10%' }) });
  const healthy = names(ready(stage.view()));
  await stage.update(broken);
  await stage.waitFor('a Pod is made that does not start', (view) => withImage(broken, active(view)).length === 1);
  await stage.update(old);
  await stage.waitFor('one Pod is left', (view) => own(view).length === 1);
  assert.deepEqual(names(ready(stage.view())), healthy);
});

test('#1153, #1324: a paused CloneSet does not surge', async () => {
  let most = 3;
  const stage = await withCloneSet({ replicas: 3, ...rolling({ maxSurge: 2 }) }, (view) => {
    most = Math.max(most, active(view).length);
  });
  await stage.change({ updateStrategy: { rollingUpdate: { paused: true } }, template: template(newer) });
  await stage.advance(minute);
  assert.equal(most, 3);
  assert.equal(withImage(old, ready(stage.view())).length, 3);
});

test('#892, #893: Pods of a CloneSet that is created paused become ready', async () => {
  const strategy = rolling({ paused: true, podUpdatePolicy: 'InPlaceIfPossible' });
  const stage = await withCloneSet({ replicas: 2, ...strategy });
  assert.equal(ready(stage.view()).length, 2);
});

test('#2291: Pods of a CloneSet with the OnDelete strategy become ready', async () => {
  const stage = await withCloneSet({ replicas: 2, updateStrategy: { type: 'OnDelete' } });
  assert.equal(ready(stage.view()).length, 2);
});

test('#899: unavailable Pods at the update revision count against maxUnavailable', async () => {
  let least = 4;
  const stage = await withCloneSet({ replicas: 4, ...rolling({ maxUnavailable: 1 }) }, (view) => {
    least = Math.min(least, ready(view).length);
  });
  await stage.update(broken);
  await stage.advance(3 * minute);
  assert.equal(least, 3);
});

test('#820: the update revision becomes current when all Pods have it, ready or not', async () => {
  const stage = await withCloneSet({ replicas: 1, ...rolling({ maxUnavailable: 1 }) });
  await stage.update(broken);
  await stage.waitFor('the Pod is of the new revision', (view) => withImage(broken, active(view)).length === 1);
  await stage.advance(minute);
  const { currentRevision, updateRevision } = stage.view().list(cloneSet)[0]?.status ?? {};
  assert.equal(currentRevision, updateRevision);
});

test('#1545, #1549: a Pod deletion during a scale-out does not change the current revision', async () => {
  const stage = await withCloneSet({ replicas: 2, ...rolling({ partition: '50%' }) });
  await stage.update(newer);
  await stage.waitFor(
    'one is updated',
    (view) => withImage(newer, ready(view)).length === 1 && withImage(old, ready(view)).length === 1,
  );
  const [outdated] = withImage(old, ready(stage.view()));
  const deleted = stage.client().delete(pod, { namespace: 'default', name: outdated!.metadata.name! });
  await Promise.all([stage.advanceUntilSettled(deleted), stage.change({ replicas: 4 })]);
  await stage.waitFor('four are ready', (view) => active(view).length === 4 && ready(view).length === 4);
  await stage.advance(minute);
  assert.equal(withImage(newer, ready(stage.view())).length, 2);
  assert.equal(withImage(old, ready(stage.view())).length, 2);
});

test('#306: a CloneSet with a partition larger than its replicas scales in', async () => {
  const stage = await withCloneSet({ replicas: 3, ...rolling({ partition: 10 }) });
  await stage.update(newer);
  await stage.change({ replicas: 1 });
  await stage.waitFor('one Pod is left', (view) => own(view).length === 1);
  assert.equal(withImage(old, ready(stage.view())).length, 1);
});

test('#954, #953: a partition below 100 % leaves one updated Pod', async () => {
  const stage = await withCloneSet({ replicas: 10, ...rolling({ partition: '90%' }) });
  await stage.update(newer);
  await stage.waitFor('one is updated', (view) => withImage(newer, ready(view)).length === 1);
  await stage.change({ replicas: 9 });
  await stage.waitFor('nine are left', (view) => own(view).length === 9 && ready(view).length === 9);
  await stage.advance(minute);
  assert.equal(withImage(newer, ready(stage.view())).length, 1);
});

test('#451: a Pod with the specified-delete label is deleted only after its replacement is available', async () => {
  let least = 2;
  const stage = await withCloneSet({ replicas: 2, ...rolling({ maxSurge: 1, maxUnavailable: 0 }) }, (view) => {
    least = Math.min(least, ready(view).length);
  });
  const [marked] = names(ready(stage.view()));
  const labels = { 'apps.kruise.io/specified-delete': 'true' };
  await stage.patchPod(marked!, { metadata: { labels } });
  const isReplaced = (view: View) => ready(view).length === 2 && !names(own(view)).includes(marked!);
  await stage.waitFor('it is replaced', isReplaced);
  assert.equal(least, 2);
});

test('#417, #1358, #558: a Pod whose labels no longer match is released and replaced', async () => {
  const stage = await withCloneSet({ replicas: 2 });
  const [strayed] = names(ready(stage.view()));
  await stage.patchPod(strayed!, { metadata: { labels: { app: 'other' } } });
  await stage.waitFor('two are ready', (view) => ready(view).length === 2);
  const found = stage
    .view()
    .list(pod)
    .find(({ metadata }) => metadata.name === strayed);
  assert.deepEqual(found?.metadata.ownerReferences ?? [], []);
});

test('#632: raising the partition rolls Pods back', async () => {
  const stage = await withCloneSet({ replicas: 3, ...rolling({ partition: 3 }) });
  await stage.update(newer);
  await stage.change({ updateStrategy: { rollingUpdate: { partition: 1 } } });
  await stage.waitFor('two are updated', (view) => withImage(newer, ready(view)).length === 2);
  await stage.change({ updateStrategy: { rollingUpdate: { partition: 3 } } });
  await stage.waitFor('all are back', (view) => withImage(old, ready(view)).length === 3 && own(view).length === 3);
});

test('#2473, #2481, #947, #925: a failed Pod is replaced and left to the Pod garbage collector', async () => {
  const stage = await withCloneSet({ replicas: 2 });
  const [evicted] = names(own(stage.view()));
  await stage.patch(pod, evicted!, { status: { phase: 'Failed', reason: 'Evicted' } }, 'status');
  await stage.waitFor('there are two again', (view) => ready(view).length === 2);
  assert.deepEqual(names(own(stage.view()).filter(isPodFinished)), [evicted]);
});

test('#1765, #1829: expectations of a Pod that is deleted before it is observed are cleared', async () => {
  const stage = await withCloneSet({ replicas: 1 });
  const before = names(own(stage.view()));
  stage.world.setNetworkConditions('manager', { watchLagMs: 30_000, brokenWatches: 1000 });
  await stage.change({ replicas: 3 });
  await stage.waitFor('there are more', (view) => own(view).length === 3, 5 * minute);
  for (const name of names(own(stage.view()))) {
    if (!before.includes(name)) await stage.deletePod(name, { gracePeriodSeconds: 0 });
  }
  stage.world.setNetworkConditions('manager', { watchLagMs: 0, brokenWatches: 0 });
  await stage.waitFor('there are three', (view) => ready(view).length === 3, 5 * minute);
});

test('#1099, #1113, #1433: a Pod of a lost node is replaced by a Pod with its own PVCs', async () => {
  const spec = { replicas: 3, volumeClaimTemplates: claims, template: template(old, stored) };
  const stage = await withCloneSet({ ...spec, scaleStrategy: { enablePVCReuse: false } });
  const lost = own(stage.view()).find(({ spec }) => spec?.nodeName === 'node-1')!;
  stage.world.crash('node-1', 60 * minute);
  await stage.machines.powerOff('node-1');
  const others = (view: View) => ready(view).filter(({ metadata }) => metadata.name !== lost.metadata.name);
  await stage.waitFor('it is replaced', (view) => others(view).length === 3, 15 * minute);
  assert.ok(names(own(stage.view())).includes(lost.metadata.name!));
});

test('#313, #318: a terminating PVC does not block the creation of a Pod', async () => {
  const stage = await withCloneSet({
    replicas: 1,
    volumeClaimTemplates: claims,
    template: template(old, stored),
  });
  const [claim] = stage.view().list(persistentVolumeClaim);
  await stage.advanceUntilSettled(
    stage.client().delete(persistentVolumeClaim, { name: claim!.metadata.name!, namespace }),
  );
  await stage.change({ replicas: 3 });
  await stage.waitFor('there are three', (view) => ready(view).length === 3);
});

test('#1478: surplus Pods are deleted before minReadySeconds have passed', async () => {
  const stage = await withCloneSet({ replicas: 5, minReadySeconds: 99_999 });
  await stage.change({ replicas: 3 });
  await stage.waitFor('three are left', (view) => own(view).length === 3);
});

test('ee55cd22e: deletions of specified-delete Pods respect maxUnavailable', async () => {
  let least = 4;
  const stage = await withCloneSet({ replicas: 4, ...rolling({ maxUnavailable: 1 }) }, (view) => {
    least = Math.min(least, ready(view).length);
  });
  const marked = names(own(stage.view())).slice(0, 2);
  for (const name of marked) await stage.patchPod(name, mark);
  const isLeft = (view: View) => names(own(view)).some((name) => marked.includes(name));
  await stage.waitFor('both are replaced', (view) => ready(view).length === 4 && !isLeft(view));
  assert.equal(least, 3);
});

test('#1515: an absolute partition applies to running and not running Pods', async () => {
  const stage = await withWorkload(
    cloneSet,
    { replicas: 8, ...rolling({ partition: 4, maxUnavailable: '100%' }), template: template(old, fitGated) },
    { wanted: 0 },
  );
  await stage.waitFor('all run', (view) => own(view).filter(isRunning).length === 8);
  await stage.update(newer, fitGated);
  await stage.waitFor('half are updated', (view) => withImage(newer, own(view).filter(isRunning)).length === 4);
  for (const image of [old, newer]) {
    for (const name of names(withImage(image, active(stage.view()))).slice(0, 2)) await stage.setFit(name, true);
  }
  await stage.waitFor('half are ready', (view) => ready(view).length === 4);
  await stage.change({ replicas: 4 });
  await stage.waitFor('four are left', (view) => own(view).length === 4);
  assert.equal(withImage(old, own(stage.view())).length, 4);
  assert.equal(ready(stage.view()).length, 2);
});

test('15ff58162: a fixed template is rolled out although a quota blocks new Pods', async () => {
  const stage = await withCloneSet({ replicas: 2, ...inPlace({ maxUnavailable: '100%' }) });
  const quota = { metadata: { name: 'few', namespace }, spec: { hard: { pods: '2' } } };
  await stage.advanceUntilSettled(stage.client().create(resourceQuota, quota));
  await stage.waitFor('it is known', (view) => view.list(resourceQuota)[0]?.status?.hard !== undefined);
  await stage.change({ replicas: 4 });
  await stage.advance(minute);
  assert.equal(own(stage.view()).length, 2);
  await stage.update(newer);
  await stage.waitFor('they have it', isUpdated(2), 10 * minute);
});

test('#1741, #2494: every step of a surge uses all of maxSurge', async () => {
  const stage = await withWorkload(
    cloneSet,
    { replicas: 8, ...rolling({ maxSurge: 3, maxUnavailable: 0 }), template: template(old, fitGated) },
    { wanted: 0 },
  );
  /** Marks all running Pods without a verdict as fit. */
  const approve = async () => {
    const found = names(active(stage.view()).filter((each) => isRunning(each) && !isPodReady(each)));
    for (const name of found) await stage.setFit(name, true);
    await stage.advance(10_000);
    return found.length;
  };
  await stage.waitFor('all run', (view) => own(view).filter(isRunning).length === 8);
  await approve();
  await stage.update(newer, fitGated);
  await stage.advance(10_000);
  assert.deepEqual([await approve(), await approve(), await approve(), await approve()], [3, 3, 2, 0]);
  assert.ok(isUpdated(8)(stage.view()));
});

test('#410, #261: without the feature gate a raised partition rolls nothing back, but new Pods get the old revision', async () => {
  const spec = { replicas: 3, ...rolling({ partition: 1, maxUnavailable: 3 }) };
  const stage = await withWorkload(cloneSet, spec, { wanted: 3, gates: () => ({}) });
  await stage.update(newer);
  await stage.waitFor('two are updated', isUpdated(2));
  await stage.change({ updateStrategy: { rollingUpdate: { partition: 3 } } });
  await stage.advance(minute);
  assert.equal(withImage(newer, ready(stage.view())).length, 2);
  const [first] = names(withImage(newer, own(stage.view())));
  await stage.deletePod(first!);
  await stage.waitFor('it is replaced', (view) => ready(view).length === 3 && !names(own(view)).includes(first!));
  assert.equal(withImage(old, ready(stage.view())).length, 2);
});

test('#1043, #987: expectedUpdatedReplicas follows a change of only the partition', async () => {
  const stage = await withCloneSet({ replicas: 3, ...rolling({ partition: 2 }) });
  await stage.update(newer);
  await stage.waitFor('one is updated', isUpdated(1));
  await stage.update(old);
  await stage.advance(minute);
  assert.equal(statusOf(stage.view())?.expectedUpdatedReplicas, 1);
  await stage.change({ updateStrategy: { rollingUpdate: { partition: 1 } } });
  await stage.waitFor('it is said', (view) => statusOf(view)?.expectedUpdatedReplicas === 2);
});

test('#554: Pods with long revision labels keep their revision after the change to short labels', async () => {
  let isShort = false;
  const gates = () => ({ CloneSetShortHash: isShort });
  const stage = await withWorkload(cloneSet, { replicas: 2, ...inPlace() }, { wanted: 2, gates });
  const before = uids(own(stage.view()));
  isShort = true;
  stage.world.crash('manager', 1000);
  await stage.advance(2 * minute);
  assert.deepEqual(uids(ready(stage.view())), before);
  assert.deepEqual(own(stage.view()).map(restartsOf), [0, 0]);
});

test('#2486: a rollback to a revision without annotations succeeds', async () => {
  const stage = await withCloneSet({
    replicas: 1,
    volumeClaimTemplates: claims,
    template: template(old, stored),
  });
  const [revision] = stage.view().list(controllerRevision);
  await stage.update(newer, stored);
  await stage.waitFor('it is updated', isUpdated(1));
  await stage.patch(controllerRevision, revision!.metadata.name!, { metadata: { annotations: null } });
  await stage.update(old, stored);
  await stage.waitFor('it is back', (view) => withImage(old, ready(view)).length === 1);
});

test('de531d620, #1678: only newly listed podsToDelete are validated, and every error is reported', async () => {
  const stage = await withCloneSet({ replicas: 2 });
  const alone = { metadata: { name: 'alone', namespace }, spec: { containers: [{ name: 'main', image: old }] } };
  await stage.advanceUntilSettled(stage.client().create(pod, alone));
  const change = (spec: object) => stage.patch(cloneSetV1alpha1, 'web', { spec });
  const choose = (name: string) => change({ scaleStrategy: { podsToDelete: [name] } });
  await assert.rejects(choose('alone'), /find pod alone owner is not this CloneSet/);
  await assert.rejects(choose('nobody'), /find pod nobody failed/);
  const [first] = names(own(stage.view()));
  await choose(first!);
  await stage.deletePod(first!, { gracePeriodSeconds: 0 });
  await change({ minReadySeconds: 1 });
});

test('#489, #108, #1502: a CloneSet that was created without defaults is reconciled', async () => {
  const stage = await startReplay({ managerAwayMs: 5000 });
  await createWorkload(stage, cloneSet, { replicas: 2 });
  assert.equal(stage.view().list(cloneSet)[0]?.spec.updateStrategy, undefined);
  await stage.waitFor('its Pods are ready', (view) => ready(view).length === 2, 2 * minute);
  await stage.patch(cloneSet, 'web', { spec: { replicas: 3 } });
  await stage.waitFor('there is one more', (view) => ready(view).length === 3, 2 * minute);
  await asWorkload(stage, cloneSet).update(newer);
  await stage.waitFor('they are updated', isUpdated(3), 2 * minute);
});
