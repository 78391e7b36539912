import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import {
  inPlaceUpdateReadyCondition,
  kruisePodReadyCondition,
  lifecycleStateLabel,
} from '@kruise/api/kruise/well-known';
import { type FirstReadiness, firstReadinessOf, isNewlyCreated } from './first-readiness.ts';

const both = [kruisePodReadyCondition, inPlaceUpdateReadyCondition];

type Traits = {
  readonly owner?: string | undefined;
  readonly gates?: readonly string[];
  readonly conditions?: readonly string[];
  readonly nodeName?: string;
  readonly state?: string;
  readonly isTerminating?: boolean;
};

/** Builds a scheduled Pod of a CloneSet with both readiness gates and without conditions. */
function podOf({ owner = 'apps.kruise.io/v1beta1', gates = both, conditions = [], ...traits }: Traits): Pod {
  const { nodeName = 'node', state = 'PreparingNormal', isTerminating = false } = traits;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'pod',
      labels: { [lifecycleStateLabel]: state },
      ...(owner === ''
        ? {}
        : { ownerReferences: [{ apiVersion: owner, kind: 'X', name: 'x', uid: 'u', controller: true }] }),
      ...(isTerminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { containers: [], readinessGates: gates.map((conditionType) => ({ conditionType })), nodeName },
    status: { conditions: conditions.map((type) => ({ type, status: 'False' })) },
  };
}

const byReadiness = { writer: 'pod-readiness', waitMs: 0 } as const;
const cases: { name: string; pod: Traits; first: FirstReadiness | undefined }[] = [
  { name: 'a Pod of a CloneSet', pod: {}, first: { gates: both, writer: 'cloneset', waitMs: 10_000 } },
  { name: 'a Pod without a node', pod: { nodeName: '' }, first: { gates: both, writer: undefined, waitMs: 2000 } },
  {
    name: 'a Pod without a node and without a hook',
    pod: { nodeName: '', state: 'Normal' },
    first: { gates: both, writer: undefined, waitMs: 2000 },
  },
  { name: 'a Pod in state Normal', pod: { state: 'Normal' }, first: { gates: both, ...byReadiness } },
  { name: 'a Pod without a lifecycle state', pod: { state: '' }, first: { gates: both, ...byReadiness } },
  {
    name: 'a Pod of another workload',
    pod: { owner: 'apps/v1' },
    first: { gates: [kruisePodReadyCondition], ...byReadiness },
  },
  { name: 'a Pod without an owner', pod: { owner: '' }, first: { gates: [kruisePodReadyCondition], ...byReadiness } },
  {
    name: 'a Pod without a node that no Kruise workload owns',
    pod: { owner: '', nodeName: '' },
    first: { gates: [kruisePodReadyCondition], ...byReadiness },
  },
  {
    name: 'a Pod with only the gate KruisePodReady',
    pod: { gates: [kruisePodReadyCondition] },
    first: { gates: [kruisePodReadyCondition], ...byReadiness },
  },
  {
    name: 'a Pod that is already drained for an update',
    pod: { conditions: [inPlaceUpdateReadyCondition] },
    first: { gates: [kruisePodReadyCondition], ...byReadiness },
  },
  { name: 'a Pod that is held not ready', pod: { conditions: [kruisePodReadyCondition] }, first: undefined },
  { name: 'a Pod with both conditions', pod: { conditions: both }, first: undefined },
  {
    name: 'a Pod with only the gate InPlaceUpdateReady',
    pod: { gates: [inPlaceUpdateReadyCondition] },
    first: undefined,
  },
  { name: 'a Pod without gates', pod: { gates: [] }, first: undefined },
  { name: 'a terminating Pod', pod: { isTerminating: true }, first: undefined },
];
for (const { name, pod, first } of cases) {
  const gates = first
    ? `gets ${first.gates.join(' and ')} from ${first.writer ?? 'the scheduled Pod on'}`
    : 'gets none';
  test(`first readiness: ${name} ${gates}`, () => assert.deepEqual(firstReadinessOf(podOf(pod)), first));
}

test('a Pod is newly created until one of its conditions or its state is set', () => {
  assert.equal(isNewlyCreated(podOf({})), true);
  assert.equal(isNewlyCreated(podOf({ nodeName: '' })), true);
  assert.equal(isNewlyCreated(podOf({ state: 'Normal' })), false);
  assert.equal(isNewlyCreated(podOf({ conditions: [inPlaceUpdateReadyCondition] })), false);
});
