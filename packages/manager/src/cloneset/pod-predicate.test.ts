import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { featureGates } from '../configuration/feature-gates.ts';
import { cloneSetOf, podOf } from './fixtures.ts';
import { isIgnorablePodUpdate } from './pod-predicate.ts';

const gates = featureGates();
const previous = podOf({ name: 'a' });
const withStatus = (status: Partial<Pod['status'] & object>): Pod => ({
  ...previous,
  status: { ...previous.status, ...status },
});
const withMetadata = (metadata: Partial<Pod['metadata']>): Pod => ({
  ...previous,
  metadata: { ...previous.metadata, ...metadata },
});
const hooked = cloneSetOf({ lifecycle: { preNormal: { finalizersHandler: ['example.com/f'] } } });

const cases: { is: string; object: Pod; matters: boolean; set?: typeof hooked }[] = [
  { is: 'a changed container status', object: withStatus({ containerStatuses: [] }), matters: false },
  { is: 'a changed annotation', object: withMetadata({ annotations: { a: 'b' } }), matters: false },
  { is: 'a changed label', object: withMetadata({ labels: { app: 'other' } }), matters: true },
  { is: 'a changed spec', object: withMetadata({ generation: 2 }), matters: true },
  {
    is: 'a Pod that is no longer ready',
    object: withStatus({ conditions: podOf({ name: 'a', isReady: false }).status?.conditions ?? [] }),
    matters: true,
  },
  { is: 'an evicted Pod', object: withStatus({ phase: 'Failed' }), matters: true },
  { is: 'a terminating Pod', object: withMetadata({ deletionTimestamp: '2026-01-01T00:00:00Z' }), matters: true },
  { is: 'a finalizer of a hook', object: withMetadata({ finalizers: ['example.com/f'] }), set: hooked, matters: true },
  { is: 'another finalizer', object: withMetadata({ finalizers: ['example.com/g'] }), set: hooked, matters: false },
  { is: 'a changed owner', object: withMetadata({ ownerReferences: [] }), matters: true },
  {
    is: 'a Pod with a completed update and without its condition',
    object: withStatus({ conditions: [{ type: 'Ready', status: 'True' }] }),
    matters: true,
  },
  {
    is: 'a Pod that waits for the next batch of its update',
    object: {
      ...withStatus({ conditions: [{ type: 'InPlaceUpdateReady', status: 'False' }] }),
      metadata: {
        ...previous.metadata,
        annotations: {
          'apps.kruise.io/inplace-update-state': JSON.stringify({
            revision: 'web-2',
            updateTimestamp: '2026-01-01T00:00:00Z',
            lastContainerStatuses: { main: { imageID: 'another' } },
            nextContainerImages: { side: 'side:v2' },
          }),
        },
      },
    },
    matters: true,
  },
];
for (const { is, object, matters, set = cloneSetOf() } of cases) {
  test(`${is} ${matters ? 'enqueues' : 'does not enqueue'} the CloneSet`, () => {
    assert.equal(isIgnorablePodUpdate({ previous, object }, set, gates), !matters);
  });
}
