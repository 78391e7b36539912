/** Defects that users of CloneSets met, played again by the numbers they were reported under. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validatingWebhookConfiguration } from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type CloneSet, cloneSet } from '@kruise/api/kruise/cloneset';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import { openStage, type Stage } from '../stage.ts';
import type { View } from '../view.ts';

const at = { name: 'clones', namespace: 'default' };
const old = 'nginx:1.25';
const newer = 'nginx:1.26';
/** Nobody finds it, so its containers never start. */
const broken = 'nginx:404';

const own = (view: View) => view.list(pod).filter((each) => each.metadata.labels?.['app'] === 'clones');
const active = (view: View) => own(view).filter(isPodActive);
const ready = (view: View) => active(view).filter(isPodReady);
const imageOf = ({ spec }: Pod) => spec?.containers[0]?.image;
const of = (image: string, pods: readonly Pod[]) => pods.filter((each) => imageOf(each) === image);
const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name).sort();
const template = (image: string) => ({
  metadata: { labels: { app: 'clones' } },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image }] },
});

type Spec = Partial<CloneSet['spec']>;
type Rolling = NonNullable<NonNullable<CloneSet['spec']['updateStrategy']>['rollingUpdate']>;
const rolling = (rollingUpdate: Rolling): Spec => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });

/** A cluster with a CloneSet, once all Pods it wants are ready; each state it goes through is looked at. */
async function withCloneSet(spec: Spec, watch: (view: View) => void = () => {}): Promise<Stage> {
  let isWatched = false;
  const stage = await openStage({ seed: 'replay', nodes: 3, onChange: (view) => isWatched && watch(view) });
  // What is made before there are webhooks has no defaults, and would be of another revision than what comes after.
  await stage.until('there are webhooks', (view) => view.list(validatingWebhookConfiguration).length > 0);
  const selector = { matchLabels: { app: 'clones' } };
  const made = { metadata: at, spec: { selector, template: template(old), ...spec } };
  await stage.during(stage.client().create(cloneSet, made));
  const wanted = spec.replicas ?? 1;
  await stage.until('all Pods are ready', (view) => ready(view).length === wanted);
  isWatched = true;
  return stage;
}

const change = (stage: Stage, spec: object) =>
  stage.during(stage.client().patch(cloneSet, at, { spec }, { type: 'merge' }));
const updateTo = (stage: Stage, image: string, more: object = {}) =>
  change(stage, { template: template(image), ...more });
const minute = 60_000;

test('#316: with a surge, what may be unavailable is rounded down', async () => {
  let least = 1;
  const stage = await withCloneSet({ replicas: 1, ...rolling({ maxSurge: '50%', maxUnavailable: '10%' }) }, (view) => {
    least = Math.min(least, ready(view).length);
  });
  await updateTo(stage, newer);
  await stage.until('it is updated', (view) => own(view).length === 1 && of(newer, ready(view)).length === 1);
  assert.equal(least, 1);
});

test('#286, #285: it surges no further than there are Pods to update', async () => {
  let most = 8;
  const strategy = rolling({ partition: 6, maxSurge: '50%', maxUnavailable: 0 });
  const stage = await withCloneSet({ replicas: 8, ...strategy }, (view) => {
    most = Math.max(most, active(view).length);
  });
  await updateTo(stage, newer);
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
  await updateTo(stage, newer);
  await stage.pass(minute);
  assert.equal(of(newer, active(stage.view())).length, 3);
  assert.equal(active(stage.view()).length, 8);
});

test('#259: Pods that surged and are available let old ones be replaced', async () => {
  const strategy = rolling({ maxUnavailable: 0, maxSurge: 2 });
  const stage = await withCloneSet({ replicas: 5, minReadySeconds: 10, ...strategy });
  await stage.pass(minute);
  await updateTo(stage, newer);
  await stage.until(
    'all are updated',
    (view) => active(view).length === 5 && of(newer, ready(view)).length === 5,
    5 * minute,
  );
});

test('#376: on the way back, the Pod that never started goes and the healthy one stays', async () => {
  const stage = await withCloneSet({ replicas: 1, ...rolling({ maxSurge: '50%', maxUnavailable: '10%' }) });
  const healthy = names(ready(stage.view()));
  await updateTo(stage, broken);
  await stage.until('a Pod is made that does not start', (view) => of(broken, active(view)).length === 1);
  await updateTo(stage, old);
  await stage.until('one Pod is left', (view) => own(view).length === 1);
  assert.deepEqual(names(ready(stage.view())), healthy);
});

test('#1153, #1324: what is paused does not surge', async () => {
  let most = 3;
  const stage = await withCloneSet({ replicas: 3, ...rolling({ maxSurge: 2 }) }, (view) => {
    most = Math.max(most, active(view).length);
  });
  await change(stage, { updateStrategy: { rollingUpdate: { paused: true } }, template: template(newer) });
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
  await updateTo(stage, broken);
  await stage.pass(3 * minute);
  assert.equal(least, 3);
});

test('#820: a revision every Pod has is the current one, ready or not', async () => {
  const stage = await withCloneSet({ replicas: 1, ...rolling({ maxUnavailable: 1 }) });
  await updateTo(stage, broken);
  await stage.until('the Pod is of the new revision', (view) => of(broken, active(view)).length === 1);
  await stage.pass(minute);
  const { currentRevision, updateRevision } = stage.view().list(cloneSet)[0]?.status ?? {};
  assert.equal(currentRevision, updateRevision);
});

test('#1545, #1549: a Pod deleted while more are wanted does not move the current revision', async () => {
  const stage = await withCloneSet({ replicas: 2, ...rolling({ partition: '50%' }) });
  await updateTo(stage, newer);
  await stage.until(
    'one is updated',
    (view) => of(newer, ready(view)).length === 1 && of(old, ready(view)).length === 1,
  );
  const [outdated] = of(old, ready(stage.view()));
  const deleted = stage.client().delete(pod, { namespace: 'default', name: outdated!.metadata.name! });
  await Promise.all([stage.during(deleted), change(stage, { replicas: 4 })]);
  await stage.until('four are ready', (view) => active(view).length === 4 && ready(view).length === 4);
  await stage.pass(minute);
  assert.equal(of(newer, ready(stage.view())).length, 2);
  assert.equal(of(old, ready(stage.view())).length, 2);
});

test('#306: a partition larger than the set does no harm when it is scaled in', async () => {
  const stage = await withCloneSet({ replicas: 3, ...rolling({ partition: 10 }) });
  await updateTo(stage, newer);
  await change(stage, { replicas: 1 });
  await stage.until('one Pod is left', (view) => own(view).length === 1);
  assert.equal(of(old, ready(stage.view())).length, 1);
});

test('#954, #953: a partition below 100 % keeps one updated Pod', async () => {
  const stage = await withCloneSet({ replicas: 10, ...rolling({ partition: '90%' }) });
  await updateTo(stage, newer);
  await stage.until('one is updated', (view) => of(newer, ready(view)).length === 1);
  await change(stage, { replicas: 9 });
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
  await stage.during(
    stage.client().patch(pod, { namespace: 'default', name: marked! }, { metadata: { labels } }, { type: 'merge' }),
  );
  const isReplaced = (view: View) => ready(view).length === 2 && !names(own(view)).includes(marked);
  await stage.until('it is replaced', isReplaced);
  assert.equal(least, 2);
});

test('#417, #1358, #558: a Pod whose labels no longer match is let go and replaced', async () => {
  const stage = await withCloneSet({ replicas: 2 });
  const [strayed] = names(ready(stage.view()));
  const change = { metadata: { labels: { app: 'other' } } };
  await stage.during(stage.client().patch(pod, { namespace: 'default', name: strayed! }, change, { type: 'merge' }));
  await stage.until('two are ready', (view) => ready(view).length === 2);
  const found = stage
    .view()
    .list(pod)
    .find(({ metadata }) => metadata.name === strayed);
  assert.deepEqual(found?.metadata.ownerReferences ?? [], []);
});

test('#632: a partition that is raised again brings Pods back', async () => {
  const stage = await withCloneSet({ replicas: 3, ...rolling({ partition: 3 }) });
  await updateTo(stage, newer);
  await change(stage, { updateStrategy: { rollingUpdate: { partition: 1 } } });
  await stage.until('two are updated', (view) => of(newer, ready(view)).length === 2);
  await change(stage, { updateStrategy: { rollingUpdate: { partition: 3 } } });
  await stage.until('all are back', (view) => of(old, ready(view)).length === 3 && own(view).length === 3);
});
