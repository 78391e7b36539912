/** Defects that users of lifecycle hooks and readiness reported, replayed by issue number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { kruisePodReadyCondition, lifecycleStateLabel } from '@kruise/api/kruise/well-known';
import { findCondition } from '@kruise/machinery/conditions';
import type { View } from '../view.ts';
import {
  active,
  broken,
  createWorkload,
  inPlace,
  minute,
  names,
  newer,
  old,
  own,
  ready,
  startReplay,
  stateOf,
  template,
  uids,
  withImage,
  withWorkload,
} from './replay.ts';

const hooks = { 'example.com/one': 'hold', 'example.com/two': 'hold' };
const labelled = { labels: hooks };
const onUpdate = {
  lifecycle: { inPlaceUpdate: { labelsHandler: hooks } },
  template: template(old, labelled),
};
const inState =
  (state: string, count = 1) =>
  (view: View) =>
    own(view).filter((each) => stateOf(each) === state).length === count;
const one = (view: View) => own(view)[0]!.metadata.name!;
const label = (labels: object) => ({ metadata: { labels } });

test('#528, #1022: a Pod waits until all hook labels are removed, and then until all are set again', async () => {
  const replay = await withWorkload(cloneSet, { replicas: 1, ...inPlace(), ...onUpdate }, { wanted: 1 });
  const name = one(replay.view());
  await replay.update(newer, labelled);
  await replay.waitFor('it waits', inState('PreparingUpdate'));
  await replay.patchPod(name, label({ 'example.com/one': 'gone' }));
  await replay.advance(minute);
  assert.ok(inState('PreparingUpdate')(replay.view()));
  await replay.patchPod(name, label({ 'example.com/two': 'gone' }));
  await replay.waitFor('it is updated', inState('Updated'));
  await replay.patchPod(name, label({ 'example.com/one': 'hold' }));
  await replay.advance(minute);
  assert.ok(inState('Updated')(replay.view()));
  await replay.patchPod(name, label(hooks));
  await replay.waitFor('it is done', inState('Normal'));
});

test('#676, #679: a Pod with a failed update is rolled back', async () => {
  const replay = await withWorkload(cloneSet, { replicas: 1, ...inPlace(), ...onUpdate }, { wanted: 1 });
  const name = one(replay.view());
  const letGo = () => replay.patchPod(name, label({ 'example.com/one': 'gone', 'example.com/two': 'gone' }));
  await replay.update(newer, labelled);
  await replay.waitFor('it waits', inState('PreparingUpdate'));
  await letGo();
  await replay.waitFor('it is updated', inState('Updated'));
  await replay.update(broken, labelled);
  await replay.waitFor('it waits again', inState('PreparingUpdate'));
  await letGo();
  await replay.waitFor('it has what does not start', (view) => withImage(broken, own(view)).length === 1);
  await replay.advance(minute);
  await replay.update(newer, labelled);
  await replay.advance(minute);
  await letGo();
  await replay.waitFor('it is updated back', (view) => withImage(newer, own(view)).length === 1);
  await replay.patchPod(name, label(hooks));
  await replay.waitFor('it is ready', (view) => ready(view).length === 1 && inState('Normal')(view), 2 * minute);
});

test('#1156, #1157: a Pod that waits for an obsolete update returns to Normal', async () => {
  const replay = await withWorkload(cloneSet, { replicas: 1, ...inPlace(), ...onUpdate }, { wanted: 1 });
  await replay.update(newer, labelled);
  await replay.waitFor('it waits', inState('PreparingUpdate'));
  await replay.update(old, labelled);
  await replay.waitFor('it goes on', inState('Normal'));
  assert.equal(ready(replay.view()).length, 1);
});

test('#1183, #1290: a Pod in PreparingUpdate counts as updated when another Pod is replaced', async () => {
  const spec = { replicas: 3, ...inPlace({ partition: 2, maxUnavailable: 1 }), ...onUpdate };
  const replay = await withWorkload(cloneSet, spec, { wanted: 3 });
  await replay.update(newer, labelled);
  await replay.waitFor('one waits', inState('PreparingUpdate'));
  const waiting = own(replay.view()).find((each) => stateOf(each) === 'PreparingUpdate')!.metadata.name!;
  const [other] = names(own(replay.view())).filter((name) => name !== waiting);
  await replay.deletePod(other!);
  await replay.waitFor('there are three', (view) => active(view).length === 3 && !names(own(view)).includes(other!));
  assert.equal(withImage(newer, own(replay.view())).length, 0);
  await replay.patchPod(waiting, label({ 'example.com/one': 'gone', 'example.com/two': 'gone' }));
  await replay.waitFor('it is updated', (view) => withImage(newer, own(view)).length === 1);
});

test('#2161: a label hook blocks deletions by the workload, a finalizer hook blocks all deletions', async () => {
  const hold = 'example.com/hold';
  const lifecycle = { preDelete: { finalizersHandler: [hold] } };
  const spec = { replicas: 2, lifecycle, template: template(old) };
  const replay = await withWorkload(cloneSet, spec, { wanted: 2 });
  for (const name of names(own(replay.view()))) await replay.patchPod(name, { metadata: { finalizers: [hold] } });
  const [first] = names(own(replay.view()));
  await replay.deletePod(first!);
  await replay.advance(minute);
  assert.ok(names(own(replay.view())).includes(first!));
  await replay.patchPod(first!, { metadata: { finalizers: null } });
  await replay.waitFor('it goes', (view) => !names(own(view)).includes(first!));
});

test('#1024: a Pod in PreparingDelete counts as a replica unless excluded by a flag', async () => {
  for (const excludePreparingDelete of [false, true]) {
    const lifecycle = { preDelete: { labelsHandler: hooks } };
    const spec = {
      replicas: 2,
      lifecycle,
      template: template(old, labelled),
      scaleStrategy: { excludePreparingDelete },
    };
    const replay = await withWorkload(cloneSet, spec, { wanted: 2 });
    const name = one(replay.view());
    await replay.patchPod(name, label({ 'apps.kruise.io/specified-delete': 'true' }));
    await replay.waitFor('it waits', inState('PreparingDelete'));
    await replay.advance(minute);
    assert.equal(active(replay.view()).length, excludePreparingDelete ? 3 : 2);
  }
});

test('#2060: a finalizer hook lets a newly created Pod become Normal immediately', async () => {
  const hook = 'example.com/ready';
  const replay = await startReplay();
  await createWorkload(replay, cloneSet, { replicas: 1, lifecycle: { preNormal: { finalizersHandler: [hook] } } });
  await replay.waitFor('it waits', (view) => inState('PreparingNormal')(view) && ready(view).length === 1);
  await replay.advance(minute);
  await replay.patchPod(one(replay.view()), { metadata: { finalizers: [hook] } });
  await replay.waitFor('it goes on', inState('Normal'));
});

test('#2087, #1485: a newly created Pod is not written before it has a node', async () => {
  const early: string[] = [];
  const replay = await startReplay();
  replay.onManager(({ method, path, body }, view) => {
    const found = method === 'PATCH' ? view.at(pod, path) : undefined;
    const { metadata } = (body ?? {}) as Partial<Pod>;
    if (found && !found.spec?.nodeName && metadata?.labels?.[lifecycleStateLabel]) early.push(path);
  });
  await createWorkload(replay, cloneSet, { replicas: 5 });
  await replay.waitFor('all are normal', inState('Normal', 5));
  assert.deepEqual(early, []);
});

test('#980, #979: a hook with markPodNotReady needs one write', async () => {
  const replay = await withWorkload(
    cloneSet,
    {
      replicas: 1,
      ...inPlace(),
      lifecycle: { inPlaceUpdate: { labelsHandler: hooks, markPodNotReady: true } },
      template: template(old, labelled),
    },
    { wanted: 1 },
  );
  const written: (readonly (string | undefined)[])[] = [];
  replay.onManager(({ method, path, body }) => {
    const { conditions } = ((body ?? {}) as Partial<Pod>).status ?? {};
    const gate = findCondition(conditions, kruisePodReadyCondition)?.status;
    if (method === 'PATCH' && path.endsWith('/status') && gate === 'False') {
      written.push([gate, findCondition(conditions, 'Ready')?.status]);
    }
  });
  await replay.update(newer, labelled);
  await replay.waitFor('it waits', inState('PreparingUpdate'));
  assert.deepEqual(written, [['False', 'False']]);
  assert.equal(ready(replay.view()).length, 0);
});

test('#1156: a Pod that was marked not ready meanwhile returns to Normal', async () => {
  const lifecycle = { inPlaceUpdate: { labelsHandler: hooks, markPodNotReady: true } };
  const spec = { replicas: 1, ...inPlace(), lifecycle, template: template(old, labelled) };
  const replay = await withWorkload(cloneSet, spec, { wanted: 1 });
  const before = uids(own(replay.view()));
  await replay.update(newer, labelled);
  await replay.waitFor('it waits', inState('PreparingUpdate'));
  await replay.update(old, labelled);
  await replay.waitFor('it goes on', (view) => inState('Normal')(view) && ready(view).length === 1);
  assert.deepEqual(uids(own(replay.view())), before);
});

test('#1156: a Pod that the partition keeps at its revision returns to Normal', async () => {
  const spec = { replicas: 2, ...inPlace({ partition: 1, maxUnavailable: 2 }), ...onUpdate };
  const replay = await withWorkload(cloneSet, spec, { wanted: 2, gates: () => ({}) });
  await replay.update(newer, labelled);
  await replay.waitFor('one waits', inState('PreparingUpdate'));
  await replay.change({ updateStrategy: { rollingUpdate: { partition: 2 } } });
  await replay.waitFor('it goes on', inState('Normal', 2));
  assert.equal(withImage(old, ready(replay.view())).length, 2);
});

test('#632: a rollback of a Pod waits for its hook', async () => {
  const spec = { replicas: 2, ...inPlace({ partition: 0, maxUnavailable: 2 }), ...onUpdate };
  const replay = await withWorkload(cloneSet, spec, { wanted: 2 });
  const letGo = async () => {
    for (const name of names(own(replay.view()))) {
      await replay.patchPod(name, label({ 'example.com/one': 'gone', 'example.com/two': 'gone' }));
    }
  };
  const putBack = async () => {
    for (const name of names(own(replay.view()))) await replay.patchPod(name, label(hooks));
  };
  await replay.change({ updateStrategy: { rollingUpdate: { partition: 1 } } });
  await replay.update(newer, labelled);
  await replay.waitFor('one waits', inState('PreparingUpdate'));
  await letGo();
  await replay.waitFor('it is updated', inState('Updated'));
  await putBack();
  await replay.waitFor('it is done', inState('Normal', 2));
  await replay.change({ updateStrategy: { rollingUpdate: { partition: 2 } } });
  await replay.waitFor('it waits to go back', inState('PreparingUpdate'));
  await replay.advance(minute);
  assert.ok(inState('PreparingUpdate')(replay.view()));
  await letGo();
  await replay.waitFor('it is back', (view) => withImage(old, own(view)).length === 2 && inState('Updated')(view));
  await putBack();
  await replay.waitFor('all is well', (view) => inState('Normal', 2)(view) && ready(view).length === 2);
});
