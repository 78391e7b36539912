/** Defects that users of in-place updates reported, replayed by issue number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { inPlaceUpdateGraceAnnotation } from '@kruise/api/kruise/well-known';
import { isConditionFalse } from '@kruise/machinery/conditions';
import type { View } from '../view.ts';
import {
  inPlace,
  minute,
  newer,
  newest,
  old,
  own,
  ready,
  restartsOf,
  stateOf,
  template,
  uids,
  withImage,
  withWorkload,
} from './replay.ts';

const isUpdated = (count: number) => (view: View) => withImage(newer, ready(view)).length === count;
const isDrained = ({ status }: Pod) => isConditionFalse(status?.conditions, 'InPlaceUpdateReady');
const isInGrace = ({ metadata }: Pod) => metadata.annotations?.[inPlaceUpdateGraceAnnotation] !== undefined;
const graceful = (gracePeriodSeconds: number) =>
  inPlace({ maxUnavailable: 1, inPlaceUpdateStrategy: { gracePeriodSeconds } });
/** Pod in the body of a request. */
type PodBody = Partial<Pod>;

test('#2276, #2277: a Pod is not ready before its containers are updated, even with a stale cache', async () => {
  const wrong: string[] = [];
  const replay = await withWorkload(cloneSet, { replicas: 3, ...inPlace({ maxUnavailable: 2 }) }, { wanted: 3 });
  let touched = 0;
  replay.onManager(({ method, path, query, body }, view) => {
    // A dry run changes nothing.
    if (method !== 'PATCH' || query?.['dryRun'] || !(body as PodBody)?.spec?.containers) return;
    touched++;
    const found = view.at(pod, path);
    if (found && !isDrained(found)) wrong.push(found.metadata.name ?? '');
  });
  replay.world.setNetworkConditions('manager', { watchLagMs: 3000 });
  for (const image of [newer, old, newer]) {
    await replay.update(image);
    await replay.advance(12_000);
  }
  await replay.waitFor('all are updated', isUpdated(3), 5 * minute);
  assert.ok(touched > 3);
  assert.deepEqual(wrong, []);
});

test('#2274, #2269: the readiness gate is opened only at the resourceVersion that was checked', async () => {
  const replay = await withWorkload(cloneSet, { replicas: 2, ...inPlace({ maxUnavailable: 2 }) }, { wanted: 2 });
  const versions: (string | undefined)[] = [];
  replay.onManager(({ method, path, body }) => {
    const { status, metadata } = (body ?? {}) as PodBody;
    const opened = status?.conditions?.some((each) => each.type === 'InPlaceUpdateReady' && each.status === 'True');
    if (method === 'PATCH' && path.endsWith('/status') && opened) versions.push(metadata?.resourceVersion);
  });
  await replay.update(newer);
  await replay.waitFor('all are updated', isUpdated(2));
  assert.equal(versions.length, 2);
  assert.ok(versions.every((version) => version !== undefined));
});

test('#635, #707, #2297: another name of the same image is updated like another image', async () => {
  const replay = await withWorkload(
    cloneSet,
    { replicas: 2, ...inPlace({ maxUnavailable: 1 }), template: template('nginx:alpine') },
    { wanted: 2 },
  );
  const idOf = (view: View) => own(view)[0]?.status?.containerStatuses?.[0]?.imageID;
  const before = { uids: uids(own(replay.view())), id: idOf(replay.view()) };
  await replay.update('nginx:mainline-alpine');
  await replay.waitFor('all are updated', (view) => withImage('nginx:mainline-alpine', ready(view)).length === 2);
  assert.deepEqual({ uids: uids(own(replay.view())), id: idOf(replay.view()) }, before);
});

test('#418: an image without a tag is resolved for updates and rollbacks', async () => {
  const replay = await withWorkload(
    cloneSet,
    { replicas: 1, ...graceful(30), template: template('nginx') },
    { wanted: 1 },
  );
  await replay.update(newer);
  await replay.waitFor('it waits', (view) => own(view).some(isInGrace));
  await replay.update('nginx');
  await replay.waitFor('it is ready again', (view) => withImage('nginx', ready(view)).length === 1, 2 * minute);
});

test('f8504faef: no container is updated during the grace period', async () => {
  const replay = await withWorkload(cloneSet, { replicas: 1, ...graceful(20) }, { wanted: 1 });
  await replay.update(newer);
  await replay.waitFor('it waits', (view) => own(view).some(isInGrace));
  await replay.advance(15_000);
  assert.deepEqual(own(replay.view()).map(isDrained), [true]);
  assert.equal(withImage(old, own(replay.view())).length, 1);
  await replay.waitFor('it is updated', isUpdated(1));
});

test('#469, #463: a newer template is applied after the in-place update in progress', async () => {
  const replay = await withWorkload(cloneSet, { replicas: 1, ...graceful(10) }, { wanted: 1 });
  const before = uids(own(replay.view()));
  await replay.update(newer);
  await replay.waitFor('it waits', (view) => own(view).some(isInGrace));
  await replay.update(newest);
  await replay.waitFor('it has the newest', (view) => withImage(newest, ready(view)).length === 1, 2 * minute);
  assert.deepEqual(uids(own(replay.view())), before);
  const revision = replay.view().list(cloneSet)[0]?.status?.updateRevision?.split('-').at(-1);
  assert.ok(own(replay.view())[0]?.metadata.labels?.['controller-revision-hash']?.endsWith(revision!));
});

test('#295: a Pod is not recreated because of a failed write', async () => {
  const replay = await withWorkload(cloneSet, { replicas: 3, ...inPlace({ maxUnavailable: 1 }) }, { wanted: 3 });
  const before = uids(own(replay.view()));
  replay.world.setNetworkConditions('manager', { failed: 500 });
  await replay.update(newer);
  await replay.waitFor('all are updated', isUpdated(3), 30 * minute);
  assert.deepEqual(uids(own(replay.view())), before);
});

test('#258, #226, #1625: an in-place update applies the metadata of the template with the image', async () => {
  const replay = await withWorkload(cloneSet, { replicas: 1, ...inPlace() }, { wanted: 1 });
  const before = uids(own(replay.view()));
  await replay.update(newer, { labels: { tier: 'front' }, annotations: { note: 'with the image' } });
  await replay.waitFor('it is updated', isUpdated(1));
  const podMetadata = () => {
    const { labels, annotations } = own(replay.view())[0]!.metadata;
    return [labels?.['tier'], annotations?.['note']];
  };
  assert.deepEqual(podMetadata(), ['front', 'with the image']);
  await replay.update(newer, { labels: { tier: 'back' }, annotations: { note: 'alone' } });
  await replay.waitFor('it has them', (view) => own(view)[0]?.metadata.labels?.['tier'] === 'back');
  await replay.waitFor('it is ready', isUpdated(1));
  assert.deepEqual(podMetadata(), ['back', 'alone']);
  assert.deepEqual(uids(own(replay.view())), before);
});

test('#1295, #1292: the manager does not crash if a Pod loses its annotations during an update', async () => {
  const replay = await withWorkload(cloneSet, { replicas: 2, ...graceful(10) }, { wanted: 2 });
  await replay.update(newer);
  await replay.waitFor('one waits', (view) => own(view).some(isInGrace));
  const waiting = own(replay.view()).find(isInGrace)!;
  await replay.patchPod(waiting.metadata.name!, { metadata: { annotations: null } });
  const isOther = ({ metadata }: Pod) => metadata.name !== waiting.metadata.name;
  await replay.waitFor('the other is updated', (view) => withImage(newer, ready(view)).some(isOther), 2 * minute);
});

test('#996, #980, #1560, #1683: the manager opens only its own readiness gates and writes only patches', async () => {
  const wrong: string[] = [];
  const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }];
  const traits = { container: { resizePolicy } };
  const replay = await withWorkload(
    cloneSet,
    { replicas: 2, ...inPlace({ maxUnavailable: 2 }), template: template(old, traits) },
    { wanted: 2 },
  );
  replay.onManager(({ method, path, body }) => {
    if (!path.includes('/pods/')) return;
    if (method === 'PUT') wrong.push(`${method} ${path}`);
    const { status } = (body ?? {}) as PodBody;
    for (const { type, status: value } of status?.conditions ?? []) {
      if (type === 'Ready' && value !== 'False') wrong.push(`${type} ${value}`);
    }
  });
  await replay.update(newer, traits);
  await replay.waitFor('all are updated', isUpdated(2));
  assert.deepEqual(wrong, []);
  assert.deepEqual(own(replay.view())[0]?.spec?.containers[0]?.resizePolicy, resizePolicy);
});

const amounts = (cpu: string) => ({ container: { resources: { requests: { cpu }, limits: { cpu: '1' } } } });

test('#2067: resources are updated through the resize subresource', async () => {
  const paths: string[] = [];
  const replay = await withWorkload(
    cloneSet,
    { replicas: 1, ...inPlace(), template: template(old, amounts('100m')) },
    { wanted: 1 },
  );
  const before = uids(own(replay.view()));
  replay.onManager(({ method, path }) => {
    if (method === 'PATCH' && /\/pods\/[^/]+(\/resize)?$/.test(path)) paths.push(path.split('/').at(-1)!);
  });
  await replay.update(old, amounts('200m'));
  await replay.waitFor(
    'it has them',
    (view) => own(view)[0]?.spec?.containers[0]?.resources?.requests?.['cpu'] === '200m',
  );
  assert.ok(paths.includes('resize'));
  assert.deepEqual(uids(own(replay.view())), before);
});

test('d25416f63, #1212: a change of the QoS class recreates the Pod', async () => {
  const replay = await withWorkload(
    cloneSet,
    { replicas: 1, ...inPlace(), template: template(old, amounts('100m')) },
    { wanted: 1 },
  );
  const before = uids(own(replay.view()));
  await replay.update(old, {
    container: { resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } } },
  });
  await replay.waitFor('there is another', (view) => ready(view).length === 1 && uids(own(view))[0] !== before[0]);
  assert.equal(own(replay.view())[0]?.status?.qosClass, 'Guaranteed');
});

test('#1621: a changed order of environment variables recreates the Pod', async () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ];
  const replay = await withWorkload(
    cloneSet,
    { replicas: 1, ...inPlace(), template: template(old, { container: { env } }) },
    { wanted: 1 },
  );
  const before = uids(own(replay.view()));
  await replay.update(old, { container: { env: env.toReversed() } });
  await replay.waitFor('there is another', (view) => ready(view).length === 1 && uids(own(view))[0] !== before[0]);
});

test('#384: a Pod that is deleted during its update does not block the rollout', async () => {
  const replay = await withWorkload(cloneSet, { replicas: 2, ...inPlace({ maxUnavailable: 1 }) }, { wanted: 2 });
  replay.world.setNetworkConditions('manager', { watchLagMs: 3000 });
  await replay.update(newer);
  await replay.waitFor('one is being updated', (view) => own(view).some((each) => stateOf(each) === 'Updating'));
  const [taken] = own(replay.view()).filter((each) => stateOf(each) === 'Updating');
  await replay.deletePod(taken!.metadata.name!, { gracePeriodSeconds: 0 });
  await replay.waitFor('all are updated', isUpdated(2), 2 * minute);
});

test('an in-place update starts each container once', async () => {
  const replay = await withWorkload(cloneSet, { replicas: 2, ...inPlace({ maxUnavailable: 2 }) }, { wanted: 2 });
  await replay.update(newer);
  await replay.waitFor('all are updated', isUpdated(2));
  assert.deepEqual(own(replay.view()).map(restartsOf), [1, 1]);
});
