import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '@kruise/values/time';
import { applyBatch, resizeAction } from './batch.ts';
import { fromLabel, now, podOf, prioritized } from './fixtures.ts';
import { type ContainerChanges, hasChanges, type InPlaceUpdateState, noChanges } from './state.ts';

const state: InPlaceUpdateState = {
  revision: 'new',
  updateTimestamp: formatTime(now),
  updatesEnv: false,
  updatesResources: false,
  updatesImages: true,
  next: noChanges,
  batches: [],
};
const c = (name: string, env: readonly ReturnType<typeof fromLabel>[] = []) => ({ name, image: 'v1', env });
const ordered = podOf([
  prioritized(c('c1'), 20),
  prioritized(c('c2', [fromLabel('e', 'k2')]), 10),
  prioritized(c('c3', [fromLabel('e', 'k2')]), 0),
  prioritized(c('c4'), 0),
]);
const images = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'v2']));
const label = { labels: { k2: 'new' } };

/** Returns the containers of each batch, until no change is left. */
function batchesOf(pod: typeof ordered, changes: ContainerChanges) {
  let done = applyBatch(pod, changes, state, { resizesBySubresource: false }, now);
  while (hasChanges(done.state.next)) {
    done = applyBatch(done.pod, done.state.next, done.state, { resizesBySubresource: false }, now);
  }
  return done.state.batches.map(({ containers }) => containers.join(' '));
}

const cases: { name: string; pod?: typeof ordered; changes: Partial<ContainerChanges>; batches: string[] }[] = [
  {
    name: 'the container of the highest priority is updated first',
    changes: { images: images('c1', 'c2', 'c4') },
    batches: ['c1', 'c2', 'c4'],
  },
  {
    name: 'a shared label pulls in all containers that read it',
    changes: { images: images('c1', 'c2', 'c4'), refMetadata: { c2: label, c3: label } },
    batches: ['c1', 'c2 c3', 'c4'],
  },
  {
    name: 'containers of equal priority are updated together',
    changes: { images: images('c3', 'c4') },
    batches: ['c3 c4'],
  },
  {
    name: 'images and resources of a container change together',
    changes: { images: images('c1', 'c2'), resources: { c1: { limits: { cpu: '2' } }, c4: { limits: { cpu: '2' } } } },
    batches: ['c1', 'c2', 'c4'],
  },
  {
    name: 'containers without a priority are updated with the highest',
    pod: podOf([c('a'), prioritized(c('b'), 1), prioritized(c('d'), 2)]),
    changes: { images: images('a', 'b', 'd') },
    batches: ['a d', 'b'],
  },
  {
    name: 'without priorities there is one batch',
    pod: podOf([c('a'), c('b')]),
    changes: { images: images('a', 'b') },
    batches: ['a b'],
  },
  { name: 'metadata alone is a batch without containers', changes: {}, batches: [''] },
];
for (const { name, pod = ordered, changes, batches } of cases) {
  test(name, () => {
    assert.deepEqual(batchesOf(pod, { ...noChanges, ...changes }), batches);
  });
}

test('a batch records the remaining changes, the containers to become ready, and the previous images', () => {
  const changes = { ...noChanges, images: images('c1', 'c2') };
  const known = { ...state, lastContainerStatuses: { c1: { imageID: 'earlier' } } };
  const done = applyBatch(ordered, changes, known, { resizesBySubresource: false }, now);
  assert.deepEqual(done.state.next, { ...noChanges, images: { c2: 'v2' } });
  assert.deepEqual(done.state.requiredReady, ['c1']);
  assert.deepEqual(done.state.lastContainerStatuses, { c1: { imageID: 'earlier' } });
  assert.deepEqual(
    done.pod.spec?.containers.map(({ image }) => image),
    ['v2', 'v1', 'v1', 'v1'],
  );
});

test('labels are written together with the containers that read them', () => {
  const changes = { ...noChanges, images: images('c1'), refMetadata: { c2: label } };
  const first = applyBatch(ordered, changes, state, { resizesBySubresource: false }, now);
  assert.equal(first.pod.metadata.labels?.['k2'], undefined);
  const second = applyBatch(first.pod, first.state.next, first.state, { resizesBySubresource: false }, now);
  assert.equal(second.pod.metadata.labels?.['k2'], 'new');
});

const sized = podOf([
  { name: 'a', resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } } },
  { name: 'b', resources: {} },
]);
const patchOf = (resources: ContainerChanges['resources']) => resizeAction(sized, resources)?.patch;

test('a resize contains only the differences', () => {
  const limits = { cpu: '1000m', memory: '2Gi', 'example.com/gpu': '1' };
  assert.deepEqual(patchOf({ a: { limits, requests: { cpu: '1' } } }), {
    spec: { containers: [{ name: 'a', resources: { limits: { memory: '2Gi' } } }] },
  });
});

test('without a difference there is no resize', () => {
  assert.equal(patchOf({ a: { limits: { cpu: '1' } } }), undefined);
  assert.equal(patchOf({}), undefined);
});

test('resources are changed through the subresource, or in the spec', () => {
  const changes = { ...noChanges, resources: { a: { limits: { cpu: '2' } } } };
  const through = applyBatch(sized, changes, state, { resizesBySubresource: true }, now);
  assert.equal(through.resize?.subresource, 'resize');
  assert.equal(through.pod.spec?.containers[0]?.resources?.limits?.['cpu'], '1');
  const into = applyBatch(sized, changes, state, { resizesBySubresource: false }, now);
  assert.equal(into.resize, undefined);
  assert.deepEqual(into.pod.spec?.containers[0]?.resources?.limits, { cpu: '2', memory: '1Gi' });
});
