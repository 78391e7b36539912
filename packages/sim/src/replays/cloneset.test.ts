/** Defects that users of CloneSets met, played again by the numbers they were reported under. */
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
  inPlace,
  isRunning,
  judged,
  make,
  minute,
  names,
  namespace,
  newer,
  of,
  old,
  openReplay,
  own,
  ready,
  restartsOf,
  rolling,
  stored,
  template,
  uids,
  type WorkloadReplay,
  withWorkload,
} from './replay.ts';

/** A cluster with a CloneSet, once all Pods it wants are ready; each state it goes through is looked at. */
function withCloneSet(
  spec: { readonly replicas?: number; readonly [field: string]: unknown },
  watch: (view: View) => void = () => {},
): Promise<WorkloadReplay> {
  return withWorkload(cloneSet, spec, { wanted: spec.replicas ?? 1, watch });
}
const statusOf = (view: View) => view.list(cloneSet)[0]?.status;
const isUpdated = (count: number) => (view: View) => of(newer, ready(view)).length === count;
const mark = { metadata: { labels: { 'apps.kruise.io/specified-delete': 'true' } } };

test('#316: with a surge, what may be unavailable is rounded down', async () => {
  let least = 1;
  const stage = await withCloneSet({ replicas: 1, ...rolling({ maxSurge: '50%', maxUnavailable: '10%' }) }, (view) => {
    least = Math.min(least, ready(view).length);
  });
  await stage.update(newer);
  await stage.until('it is updated', (view) => own(view).length === 1 && of(newer, ready(view)).length === 1);
  assert.equal(least, 1);
});

test('#286, #285: it surges no further than there are Pods to update', async () => {
  let most = 8;
  const strategy = rolling({ partition: 6, maxSurge: '50%', maxUnavailable: 0 });
  const stage = await withCloneSet({ replicas: 8, ...strategy }, (view) => {
    most = Math.max(most, active(view).length);
  });
  await stage.update(newer);
  await stage.pass(minute);
  assert.equal(most, 10);
  assert.equal(of(newer, ready(stage.view())).length, 2);
  assert.equal(of(old, ready(stage.view())).length, 6);
});

test('#260, #266: no Pod more than wanted is left once the partition is met', async () => {
  const stage = await withCloneSet({
    replicas: 8,
    ...rolling({ maxSurge: '10%', maxUnavailable: '10%', partition: 5 }),
  });
  await stage.update(newer);
  await stage.pass(minute);
  assert.equal(of(newer, active(stage.view())).length, 3);
  assert.equal(active(stage.view()).length, 8);
});

test('#259: Pods that surged and are available let old ones be replaced', async () => {
  const strategy = rolling({ maxUnavailable: 0, maxSurge: 2 });
  const stage = await withCloneSet({ replicas: 5, minReadySeconds: 10, ...strategy });
  await stage.pass(minute);
  await stage.update(newer);
  await stage.until(
    'all are updated',
    (view) => active(view).length === 5 && of(newer, ready(view)).length === 5,
    5 * minute,
  );
});

test('#376: on the way back, the Pod that never started goes and the healthy one stays', async () => {
  const stage = await withCloneSet({ replicas: 1, ...rolling({ maxSurge: '50%', maxUnavailable: '10%' }) });
  const healthy = names(ready(stage.view()));
  await stage.update(broken);
  await stage.until('a Pod is made that does not start', (view) => of(broken, active(view)).length === 1);
  await stage.update(old);
  await stage.until('one Pod is left', (view) => own(view).length === 1);
  assert.deepEqual(names(ready(stage.view())), healthy);
});

test('#1153, #1324: what is paused does not surge', async () => {
  let most = 3;
  const stage = await withCloneSet({ replicas: 3, ...rolling({ maxSurge: 2 }) }, (view) => {
    most = Math.max(most, active(view).length);
  });
  await stage.change({ updateStrategy: { rollingUpdate: { paused: true } }, template: template(newer) });
  await stage.pass(minute);
  assert.equal(most, 3);
  assert.equal(of(old, ready(stage.view())).length, 3);
});

test('#892, #893: Pods of a set that is paused from the start become ready', async () => {
  const strategy = rolling({ paused: true, podUpdatePolicy: 'InPlaceIfPossible' });
  const stage = await withCloneSet({ replicas: 2, ...strategy });
  assert.equal(ready(stage.view()).length, 2);
});

test('#2291: so do those of a set that updates what is deleted', async () => {
  const stage = await withCloneSet({ replicas: 2, updateStrategy: { type: 'OnDelete' } });
  assert.equal(ready(stage.view()).length, 2);
});

test('#899: unavailable Pods of the new revision use up the budget', async () => {
  let least = 4;
  const stage = await withCloneSet({ replicas: 4, ...rolling({ maxUnavailable: 1 }) }, (view) => {
    least = Math.min(least, ready(view).length);
  });
  await stage.update(broken);
  await stage.pass(3 * minute);
  assert.equal(least, 3);
});

test('#820: a revision every Pod has is the current one, ready or not', async () => {
  const stage = await withCloneSet({ replicas: 1, ...rolling({ maxUnavailable: 1 }) });
  await stage.update(broken);
  await stage.until('the Pod is of the new revision', (view) => of(broken, active(view)).length === 1);
  await stage.pass(minute);
  const { currentRevision, updateRevision } = stage.view().list(cloneSet)[0]?.status ?? {};
  assert.equal(currentRevision, updateRevision);
});

test('#1545, #1549: a Pod deleted while more are wanted does not move the current revision', async () => {
  const stage = await withCloneSet({ replicas: 2, ...rolling({ partition: '50%' }) });
  await stage.update(newer);
  await stage.until(
    'one is updated',
    (view) => of(newer, ready(view)).length === 1 && of(old, ready(view)).length === 1,
  );
  const [outdated] = of(old, ready(stage.view()));
  const deleted = stage.client().delete(pod, { namespace: 'default', name: outdated!.metadata.name! });
  await Promise.all([stage.during(deleted), stage.change({ replicas: 4 })]);
  await stage.until('four are ready', (view) => active(view).length === 4 && ready(view).length === 4);
  await stage.pass(minute);
  assert.equal(of(newer, ready(stage.view())).length, 2);
  assert.equal(of(old, ready(stage.view())).length, 2);
});

test('#306: a partition larger than the set does no harm when it is scaled in', async () => {
  const stage = await withCloneSet({ replicas: 3, ...rolling({ partition: 10 }) });
  await stage.update(newer);
  await stage.change({ replicas: 1 });
  await stage.until('one Pod is left', (view) => own(view).length === 1);
  assert.equal(of(old, ready(stage.view())).length, 1);
});

test('#954, #953: a partition below 100 % keeps one updated Pod', async () => {
  const stage = await withCloneSet({ replicas: 10, ...rolling({ partition: '90%' }) });
  await stage.update(newer);
  await stage.until('one is updated', (view) => of(newer, ready(view)).length === 1);
  await stage.change({ replicas: 9 });
  await stage.until('nine are left', (view) => own(view).length === 9 && ready(view).length === 9);
  await stage.pass(minute);
  assert.equal(of(newer, ready(stage.view())).length, 1);
});

test('#451: a Pod that is marked to be deleted stays until another has taken its place', async () => {
  let least = 2;
  const stage = await withCloneSet({ replicas: 2, ...rolling({ maxSurge: 1, maxUnavailable: 0 }) }, (view) => {
    least = Math.min(least, ready(view).length);
  });
  const [marked] = names(ready(stage.view()));
  const labels = { 'apps.kruise.io/specified-delete': 'true' };
  await stage.patchPod(marked!, { metadata: { labels } });
  const isReplaced = (view: View) => ready(view).length === 2 && !names(own(view)).includes(marked!);
  await stage.until('it is replaced', isReplaced);
  assert.equal(least, 2);
});

test('#417, #1358, #558: a Pod whose labels no longer match is let go and replaced', async () => {
  const stage = await withCloneSet({ replicas: 2 });
  const [strayed] = names(ready(stage.view()));
  await stage.patchPod(strayed!, { metadata: { labels: { app: 'other' } } });
  await stage.until('two are ready', (view) => ready(view).length === 2);
  const found = stage
    .view()
    .list(pod)
    .find(({ metadata }) => metadata.name === strayed);
  assert.deepEqual(found?.metadata.ownerReferences ?? [], []);
});

test('#632: a partition that is raised again brings Pods back', async () => {
  const stage = await withCloneSet({ replicas: 3, ...rolling({ partition: 3 }) });
  await stage.update(newer);
  await stage.change({ updateStrategy: { rollingUpdate: { partition: 1 } } });
  await stage.until('two are updated', (view) => of(newer, ready(view)).length === 2);
  await stage.change({ updateStrategy: { rollingUpdate: { partition: 3 } } });
  await stage.until('all are back', (view) => of(old, ready(view)).length === 3 && own(view).length === 3);
});

test('#2473, #2481, #947, #925: a Pod that failed is replaced, and left to those who collect them', async () => {
  const stage = await withCloneSet({ replicas: 2 });
  const [evicted] = names(own(stage.view()));
  await stage.patch(pod, evicted!, { status: { phase: 'Failed', reason: 'Evicted' } }, 'status');
  await stage.until('there are two again', (view) => ready(view).length === 2);
  assert.deepEqual(names(own(stage.view()).filter(isPodFinished)), [evicted]);
});

test('#1765, #1829: a Pod that was gone before anybody saw it is waited for by nobody', async () => {
  const stage = await withCloneSet({ replicas: 1 });
  const before = names(own(stage.view()));
  stage.world.setWeather('manager', { watchLagMs: 30_000, brokenWatches: 1000 });
  await stage.change({ replicas: 3 });
  await stage.until('there are more', (view) => own(view).length === 3, 5 * minute);
  for (const name of names(own(stage.view()))) {
    if (!before.includes(name)) await stage.deletePod(name, { gracePeriodSeconds: 0 });
  }
  stage.world.setWeather('manager', { watchLagMs: 0, brokenWatches: 0 });
  await stage.until('there are three', (view) => ready(view).length === 3, 5 * minute);
});

test('#1099, #1113, #1433: a Pod whose node is lost is replaced by one with claims of its own', async () => {
  const spec = { replicas: 3, volumeClaimTemplates: claims, template: template(old, stored) };
  const stage = await withCloneSet({ ...spec, scaleStrategy: { enablePVCReuse: false } });
  const lost = own(stage.view()).find(({ spec }) => spec?.nodeName === 'node-1')!;
  stage.world.crash('node-1', 60 * minute);
  await stage.machines.switchOff('node-1');
  const others = (view: View) => ready(view).filter(({ metadata }) => metadata.name !== lost.metadata.name);
  await stage.until('it is replaced', (view) => others(view).length === 3, 15 * minute);
  assert.ok(names(own(stage.view())).includes(lost.metadata.name!));
});

test('#313, #318: a claim on its way out keeps no Pod from being made', async () => {
  const stage = await withCloneSet({
    replicas: 1,
    volumeClaimTemplates: claims,
    template: template(old, stored),
  });
  const [claim] = stage.view().list(persistentVolumeClaim);
  await stage.during(stage.client().delete(persistentVolumeClaim, { name: claim!.metadata.name!, namespace }));
  await stage.change({ replicas: 3 });
  await stage.until('there are three', (view) => ready(view).length === 3);
});

test('#1478: Pods too many go, though they have not been ready for long', async () => {
  const stage = await withCloneSet({ replicas: 5, minReadySeconds: 99_999 });
  await stage.change({ replicas: 3 });
  await stage.until('three are left', (view) => own(view).length === 3);
});

test('ee55cd22e: of Pods that are marked as many go at a time as may be unavailable', async () => {
  let least = 4;
  const stage = await withCloneSet({ replicas: 4, ...rolling({ maxUnavailable: 1 }) }, (view) => {
    least = Math.min(least, ready(view).length);
  });
  const marked = names(own(stage.view())).slice(0, 2);
  for (const name of marked) await stage.patchPod(name, mark);
  const isLeft = (view: View) => names(own(view)).some((name) => marked.includes(name));
  await stage.until('both are replaced', (view) => ready(view).length === 4 && !isLeft(view));
  assert.equal(least, 3);
});

test('#1515: a partition in Pods binds, whether they run or not', async () => {
  const stage = await withWorkload(
    cloneSet,
    { replicas: 8, ...rolling({ partition: 4, maxUnavailable: '100%' }), template: template(old, judged) },
    { wanted: 0 },
  );
  await stage.until('all run', (view) => own(view).filter(isRunning).length === 8);
  await stage.update(newer, judged);
  await stage.until('half are updated', (view) => of(newer, own(view).filter(isRunning)).length === 4);
  for (const image of [old, newer]) {
    for (const name of names(of(image, active(stage.view()))).slice(0, 2)) await stage.judge(name, true);
  }
  await stage.until('half are ready', (view) => ready(view).length === 4);
  await stage.change({ replicas: 4 });
  await stage.until('four are left', (view) => own(view).length === 4);
  assert.equal(of(old, own(stage.view())).length, 4);
  assert.equal(ready(stage.view()).length, 2);
});

test('15ff58162: a better template reaches Pods though no more can be made', async () => {
  const stage = await withCloneSet({ replicas: 2, ...inPlace({ maxUnavailable: '100%' }) });
  const quota = { metadata: { name: 'few', namespace }, spec: { hard: { pods: '2' } } };
  await stage.during(stage.client().create(resourceQuota, quota));
  await stage.until('it is known', (view) => view.list(resourceQuota)[0]?.status?.hard !== undefined);
  await stage.change({ replicas: 4 });
  await stage.pass(minute);
  assert.equal(own(stage.view()).length, 2);
  await stage.update(newer);
  await stage.until('they have it', isUpdated(2), 10 * minute);
});

test('#1741, #2494: every wave of a surge is as large as it may be', async () => {
  const stage = await withWorkload(
    cloneSet,
    { replicas: 8, ...rolling({ maxSurge: 3, maxUnavailable: 0 }), template: template(old, judged) },
    { wanted: 0 },
  );
  /** Finds the Pods that run and nobody has judged yet fit. */
  const approve = async () => {
    const found = names(active(stage.view()).filter((each) => isRunning(each) && !isPodReady(each)));
    for (const name of found) await stage.judge(name, true);
    await stage.pass(10_000);
    return found.length;
  };
  await stage.until('all run', (view) => own(view).filter(isRunning).length === 8);
  await approve();
  await stage.update(newer, judged);
  await stage.pass(10_000);
  assert.deepEqual([await approve(), await approve(), await approve(), await approve()], [3, 3, 2, 0]);
  assert.ok(isUpdated(8)(stage.view()));
});

test('#410, #261: without the gate a partition that is raised moves nothing, but what is made anew is old', async () => {
  const spec = { replicas: 3, ...rolling({ partition: 1, maxUnavailable: 3 }) };
  const stage = await withWorkload(cloneSet, spec, { wanted: 3, gates: () => ({}) });
  await stage.update(newer);
  await stage.until('two are updated', isUpdated(2));
  await stage.change({ updateStrategy: { rollingUpdate: { partition: 3 } } });
  await stage.pass(minute);
  assert.equal(of(newer, ready(stage.view())).length, 2);
  const [first] = names(of(newer, own(stage.view())));
  await stage.deletePod(first!);
  await stage.until('it is replaced', (view) => ready(view).length === 3 && !names(own(view)).includes(first!));
  assert.equal(of(old, ready(stage.view())).length, 2);
});

test('#1043, #987: how many are to be updated follows the partition, be it all that has changed', async () => {
  const stage = await withCloneSet({ replicas: 3, ...rolling({ partition: 2 }) });
  await stage.update(newer);
  await stage.until('one is updated', isUpdated(1));
  await stage.update(old);
  await stage.pass(minute);
  assert.equal(statusOf(stage.view())?.expectedUpdatedReplicas, 1);
  await stage.change({ updateStrategy: { rollingUpdate: { partition: 1 } } });
  await stage.until('it is said', (view) => statusOf(view)?.expectedUpdatedReplicas === 2);
});

test('#554: Pods with long names of revisions are what they are when names become short', async () => {
  let isShort = false;
  const gates = () => ({ CloneSetShortHash: isShort });
  const stage = await withWorkload(cloneSet, { replicas: 2, ...inPlace() }, { wanted: 2, gates });
  const before = uids(own(stage.view()));
  isShort = true;
  stage.world.crash('manager', 1000);
  await stage.pass(2 * minute);
  assert.deepEqual(uids(ready(stage.view())), before);
  assert.deepEqual(own(stage.view()).map(restartsOf), [0, 0]);
});

test('#2486: a revision without annotations can be gone back to', async () => {
  const stage = await withCloneSet({
    replicas: 1,
    volumeClaimTemplates: claims,
    template: template(old, stored),
  });
  const [revision] = stage.view().list(controllerRevision);
  await stage.update(newer, stored);
  await stage.until('it is updated', isUpdated(1));
  await stage.patch(controllerRevision, revision!.metadata.name!, { metadata: { annotations: null } });
  await stage.update(old, stored);
  await stage.until('it is back', (view) => of(old, ready(view)).length === 1);
});

test('de531d620, #1678: only Pods that are named anew are looked up, and whatever is wrong with them is said', async () => {
  const stage = await withCloneSet({ replicas: 2 });
  const alone = { metadata: { name: 'alone', namespace }, spec: { containers: [{ name: 'main', image: old }] } };
  await stage.during(stage.client().create(pod, alone));
  const change = (spec: object) => stage.patch(cloneSetV1alpha1, 'web', { spec });
  const choose = (name: string) => change({ scaleStrategy: { podsToDelete: [name] } });
  await assert.rejects(choose('alone'), /find pod alone owner is not this CloneSet/);
  await assert.rejects(choose('nobody'), /find pod nobody failed/);
  const [first] = names(own(stage.view()));
  await choose(first!);
  await stage.deletePod(first!, { gracePeriodSeconds: 0 });
  await change({ minReadySeconds: 1 });
});

test('#489, #108, #1502: a set that was made without defaults is looked after', async () => {
  const stage = await openReplay({ managerAwayMs: 5000 });
  await make(stage, cloneSet, { replicas: 2 });
  assert.equal(stage.view().list(cloneSet)[0]?.spec.updateStrategy, undefined);
  await stage.until('its Pods are ready', (view) => ready(view).length === 2, 2 * minute);
  await stage.patch(cloneSet, 'web', { spec: { replicas: 3 } });
  await stage.until('there is one more', (view) => ready(view).length === 3, 2 * minute);
  await asWorkload(stage, cloneSet).update(newer);
  await stage.until('they are updated', isUpdated(3), 2 * minute);
});
