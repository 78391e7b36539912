import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { inPlaceUpdateGraceAnnotation, inPlaceUpdateStateAnnotation } from '@kruise/api/kruise/well-known';
import type { PatchAction } from '@kruise/client/actions';
import { noRefusals } from '@kruise/client/refusals';
import type { JsonObject } from '@kruise/machinery/json-value';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import { formatTime } from '@kruise/values/time';
import { allFeatureGates, featureGates } from '../../configuration/feature-gates.ts';
import { managerSettings } from '../../configuration/settings.ts';
import { podType } from '../patch-pod.ts';
import { literalLabels } from '../revision/pod-revision.ts';
import { now, podOf, prioritized } from './fixtures.ts';
import { permissionsBy } from './permission.ts';
import { formatGrace, formatState, noChanges, readState, type UpdateSpec } from './state.ts';
import { needsDraining, refreshUpdate, startUpdate } from './update.ts';

const settings = managerSettings({ gates: featureGates(allFeatureGates) });
const engine = { settings, revisionLabels: literalLabels, permissions: permissionsBy(noRefusals) };
const c1: Container = { name: 'c1', image: 'app:v1' };
const toV2: UpdateSpec = {
  ...noChanges,
  revision: 'new',
  images: { c1: 'app:v2' },
  updatesEnv: false,
  graceSeconds: 0,
};

/** Returns a Pod after the decided actions. */
function after(pod: Pod, actions: readonly PatchAction[]): Pod {
  return actions.reduce(
    (done, { patch }) => applyStrategicMergePatch(done as JsonObject, patch as JsonObject, podType) as Pod,
    pod,
  );
}
const conditionsOf = ({ status }: Pod) =>
  Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: value, reason }) => [type, `${value} ${reason ?? ''}`.trim()]),
  );

test('an update drains the Pod, then changes the image and records the state', () => {
  const pod = podOf([c1], { labels: { 'controller-revision-hash': 'old' }, condition: 'True' });
  const actions = startUpdate(pod, toV2, engine, now);
  assert.deepEqual(
    actions.map(({ subresource }) => subresource ?? 'pod'),
    ['status', 'pod'],
  );
  const done = after(pod, actions);
  assert.deepEqual(conditionsOf(done), {
    ContainersReady: 'True',
    Ready: 'False ReadinessGatesNotReady',
    InPlaceUpdateReady: 'False StartInPlaceUpdate',
  });
  assert.equal(done.spec?.containers[0]?.image, 'app:v2');
  assert.equal(done.metadata.labels?.['controller-revision-hash'], 'new');
  assert.equal(
    done.metadata.annotations?.[inPlaceUpdateStateAnnotation],
    `{"revision":"new","updateTimestamp":"${formatTime(now)}","lastContainerStatuses":{"c1":{"imageID":"id-of-app:v1"}},` +
      `"updateImages":true,"containerBatchesRecord":[{"timestamp":"${formatTime(now)}","containers":["c1"]}]}`,
  );
});

test('a Pod is drained even if the cache shows it as drained', () => {
  const [first] = startUpdate(podOf([c1], { condition: 'False' }), toV2, engine, now);
  assert.equal(first?.subresource, 'status');
});

test('a grace period drains the Pod and leaves its containers alone', () => {
  const pod = podOf([c1], { condition: 'True' });
  const done = after(pod, startUpdate(pod, { ...toV2, graceSeconds: 30 }, engine, now));
  assert.equal(done.spec?.containers[0]?.image, 'app:v1');
  assert.equal(done.metadata.labels?.['controller-revision-hash'], 'new');
  assert.equal(done.metadata.annotations?.[inPlaceUpdateGraceAnnotation], formatGrace({ ...toV2, graceSeconds: 30 }));
});

test('an update that changes only metadata is an ordinary update', () => {
  const metadataPatch = { metadata: { labels: { a: 'b' } } };
  const pod = podOf([c1]);
  const done = after(pod, startUpdate(pod, { ...toV2, images: {}, metadataPatch }, engine, now));
  assert.deepEqual([done.metadata.labels?.['a'], readState(done)?.batches.length], ['b', 1]);
});

const resize: UpdateSpec = { ...toV2, images: {}, resources: { c1: { limits: { cpu: '2' } } } };
const restarts = (resourceName: string): Container => ({
  ...c1,
  resizePolicy: [{ resourceName, restartPolicy: 'RestartContainer' }],
});
const drains: { is: string; pod: Pod; spec?: UpdateSpec; expected: boolean }[] = [
  { is: 'an image of a Pod with the gate', pod: podOf([c1]), spec: toV2, expected: true },
  { is: 'an image of a Pod without the gate', pod: podOf([c1], { isGated: false }), spec: toV2, expected: false },
  { is: 'a resize', pod: podOf([c1]), expected: false },
  { is: 'a resize that restarts', pod: podOf([restarts('cpu')]), expected: true },
  { is: 'a resize of something that does not restart', pod: podOf([restarts('memory')]), expected: false },
  {
    is: 'a resize where another container would restart',
    pod: podOf([c1, { ...restarts('cpu'), name: 'c2' }]),
    expected: false,
  },
];
for (const { is, pod, spec = resize, expected } of drains) {
  test(`${is} ${expected ? 'drains the Pod' : 'needs no draining'}`, () => {
    assert.equal(needsDraining(pod, spec, settings), expected);
  });
}

const state = (startedSecondsAgo: number) => ({
  revision: 'new',
  updateTimestamp: formatTime(now - startedSecondsAgo * 1000),
  updatesEnv: false,
  updatesResources: false,
  updatesImages: true,
  next: noChanges,
  batches: [],
});
const inGrace = (elapsed: number, label = 'new') =>
  podOf([c1], {
    labels: { 'controller-revision-hash': label },
    annotations: {
      [inPlaceUpdateStateAnnotation]: formatState(state(elapsed)),
      [inPlaceUpdateGraceAnnotation]: formatGrace({ ...toV2, graceSeconds: 30 }),
    },
    condition: 'False',
  });

test('the update waits for the end of the grace period', () => {
  assert.deepEqual(refreshUpdate(inGrace(10), engine, now), { actions: [], requeueAfterSeconds: 20 });
});

test('after the grace period the containers are changed', () => {
  const pod = inGrace(31);
  const done = after(pod, refreshUpdate(pod, engine, now).actions);
  assert.equal(done.spec?.containers[0]?.image, 'app:v2');
  assert.equal(done.metadata.annotations?.[inPlaceUpdateGraceAnnotation], undefined);
  assert.equal(readState(done)?.batches.length, 1);
});

test('the grace period of an obsolete revision is cancelled', () => {
  const pod = inGrace(31, 'newer');
  const done = after(pod, refreshUpdate(pod, engine, now).actions);
  assert.equal(done.spec?.containers[0]?.image, 'app:v1');
  assert.equal(done.metadata.annotations?.[inPlaceUpdateGraceAnnotation], undefined);
});

test('the gate of a newly created Pod is opened', () => {
  const pod = podOf([c1]);
  const { actions } = refreshUpdate(pod, engine, now);
  assert.equal(conditionsOf(after(pod, actions))['InPlaceUpdateReady'], 'True');
});

test('a Pod whose gate is open, or that has no gate, is left alone', () => {
  assert.deepEqual(refreshUpdate(podOf([c1], { condition: 'True' }), engine, now).actions, []);
  assert.deepEqual(refreshUpdate(podOf([c1], { isGated: false }), engine, now).actions, []);
});

test('a Pod becomes ready only at the observed resourceVersion', () => {
  const [action] = refreshUpdate(podOf([c1], { condition: 'False' }), engine, now).actions;
  assert.equal((action!.patch as { metadata?: { resourceVersion?: string } }).metadata?.resourceVersion, '5');
});

const two = [prioritized({ name: 'a', image: 'v2' }, 1), prioritized({ name: 'b', image: 'v1' }, 0)];
const between = (
  running: { readonly [container: string]: readonly [string, string] },
  notReady: readonly string[] = [],
) =>
  podOf(two, {
    annotations: {
      [inPlaceUpdateStateAnnotation]: formatState({
        ...state(5),
        lastContainerStatuses: { a: { imageID: 'old' } },
        next: { ...noChanges, images: { b: 'v2' } },
        requiredReady: ['a'],
      }),
    },
    running,
    notReady,
    condition: 'False',
  });

test('the next batch waits until the previous one is complete', () => {
  assert.deepEqual(refreshUpdate(between({ a: ['v1', 'old'] }), engine, now).actions, []);
});

test('the next batch waits until the previous one is ready', () => {
  assert.deepEqual(refreshUpdate(between({ a: ['v2', 'new'] }, ['a']), engine, now).actions, []);
});

test('the next batch is applied while the Pod stays drained', () => {
  const pod = between({ a: ['v2', 'new'] });
  const { actions } = refreshUpdate(pod, engine, now);
  const done = after(pod, actions);
  assert.deepEqual(
    done.spec?.containers.map(({ image }) => image),
    ['v2', 'v2'],
  );
  assert.equal(conditionsOf(done)['InPlaceUpdateReady'], 'False');
});

test('a Pod with unreadable annotations is left alone', () => {
  const pod = podOf([c1], { annotations: { [inPlaceUpdateStateAnnotation]: '{' }, condition: 'False' });
  assert.deepEqual(refreshUpdate(pod, engine, now).actions, []);
});
