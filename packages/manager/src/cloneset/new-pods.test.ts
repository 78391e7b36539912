import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import {
  inPlaceUpdateReadyCondition,
  kruisePodReadyCondition,
  lifecycleStateLabel,
} from '@kruise/api/kruise/well-known';
import type { PatchAction } from '@kruise/client/actions';
import { featureGates } from '../configuration/feature-gates.ts';
import { isNewlyCreated } from '../workload/readiness/first-readiness.ts';
import { cloneSetOf, now, podOf } from './fixtures.ts';
import { decideNewPod } from './new-pods.ts';

const gates = featureGates({});
const hook = { preNormal: { labelsHandler: { held: 'true' } } };

const both = [inPlaceUpdateReadyCondition, kruisePodReadyCondition];

/** Builds a newly created Pod with both readiness gates and without conditions. */
function newPod(traits: { readonly node?: string; readonly state?: string } = {}): Pod {
  return podOf({ name: 'a', state: 'PreparingNormal', pendingGates: both, ...traits });
}

function writesFor(found: Pod, spec: Partial<CloneSet['spec']> = {}) {
  const actions = decideNewPod({ found, owner: cloneSetOf(spec) }, gates, now).actions as readonly PatchAction[];
  return actions.map(({ patch, subresource }) => {
    const { metadata, status } = patch as Pick<Pod, 'metadata' | 'status'>;
    const open = status?.conditions?.filter((each) => each.status === 'True').map(({ type }) => type);
    return { subresource, open, state: metadata?.labels?.[lifecycleStateLabel], at: metadata?.resourceVersion };
  });
}

test('a new Pod gets readiness and Normal in one write, with optimistic concurrency', () => {
  assert.deepEqual(writesFor(newPod()), [{ subresource: 'status', open: both, state: 'Normal', at: '3' }]);
});

test('a hook keeps a new Pod from Normal, but not from readiness', () => {
  assert.deepEqual(writesFor(newPod(), { lifecycle: hook }), [
    { subresource: 'status', open: both, state: undefined, at: '3' },
  ]);
});

const inPlace = { type: inPlaceUpdateReadyCondition, status: 'False' } as const;
const others: { is: string; found: Pod }[] = [
  { is: 'has no node', found: newPod({ node: '' }) },
  {
    is: 'is terminating',
    found: { ...newPod(), metadata: { ...newPod().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
  },
  { is: 'is Normal', found: newPod({ state: 'Normal' }) },
  { is: 'is being updated', found: { ...newPod(), status: { conditions: [inPlace] } } },
];
for (const { is, found } of others) {
  test(`a Pod that ${is} gets no write`, () => assert.deepEqual(writesFor(found), []));
}

test('a Pod without the gates, as created without webhooks, is left to the CloneSet reconcile', () => {
  assert.equal(isNewlyCreated(podOf({ name: 'a', state: 'PreparingNormal' })), false);
});
