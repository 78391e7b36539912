import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { Caches } from '@kruise/client/informer';
import { keyOf } from '@kruise/client/object-key';
import { createObjectStore } from '@kruise/client/object-store';
import { newRevision } from '@kruise/machinery/controller-revision';
import { deploymentOf, podOf } from './fixtures.ts';
import { deploymentOfPod } from './mappers.ts';

const made = newRevision(deploymentOf(), { data: {} }, { revision: 1 });
const revision = made.metadata.name ?? '';

/** Returns the keys that a Pod change enqueues. */
function keysFor(object: Pod, previous?: Pod, cause: 'event' | 'initial' = 'event'): readonly string[] {
  const revisions = createObjectStore<ControllerRevision>();
  revisions.set(keyOf(made), made);
  // The revision of a Pod determines its UnitedDeployment.
  const caches = { of: () => revisions } as unknown as Caches;
  return deploymentOfPod({ type: 'updated', object, ...(previous ? { previous } : {}), cause }, caches);
}

const pod = podOf('p', { revision });
const annotated = { ...pod, metadata: { ...pod.metadata, annotations: { x: 'y' } } };
const plain: Pod = { ...pod, metadata: { ...pod.metadata, labels: { app: 'web' } } };

const cases: readonly { is: string; object: Pod; previous?: Pod; isEnqueued: boolean }[] = [
  { is: 'a new Pod', object: pod, isEnqueued: true },
  { is: 'a Pod that becomes ready', object: podOf('p', { revision, ready: 1 }), previous: pod, isEnqueued: true },
  { is: 'an unschedulable Pod', object: podOf('p', { revision, isPending: true }), previous: pod, isEnqueued: true },
  { is: 'a terminating Pod', object: podOf('p', { revision, isTerminating: true }), previous: pod, isEnqueued: true },
  { is: 'a Pod with a new label', object: podOf('p', { revision, mark: 'true' }), previous: pod, isEnqueued: true },
  { is: 'a Pod with a new annotation', object: annotated, previous: pod, isEnqueued: false },
  { is: 'a Pod of another owner', object: plain, isEnqueued: false },
  { is: 'a Pod of a revision that is gone', object: podOf('p', { revision: 'gone' }), isEnqueued: false },
];
for (const { is, object, previous, isEnqueued } of cases) {
  test(`${is} ${isEnqueued ? 'enqueues' : 'does not enqueue'} its UnitedDeployment`, () => {
    assert.deepEqual(keysFor(object, previous), isEnqueued ? ['default/web'] : []);
  });
}

test('initial Pods enqueue nothing', () => assert.deepEqual(keysFor(pod, undefined, 'initial'), []));
