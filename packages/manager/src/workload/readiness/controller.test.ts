import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodCondition } from '@kruise/api/core/pod';
import {
  inPlaceUpdateReadyCondition,
  kruisePodReadyCondition,
  lifecycleStateLabel,
} from '@kruise/api/kruise/well-known';
import { flattenSteps, type PatchAction } from '@kruise/client/actions';
import { formatTime, instantOf } from '@kruise/values/time';
import { decide } from './controller.ts';

const now = instantOf(2026, 1, 1, 12);

type Traits = { readonly owner?: string; readonly nodeName?: string; readonly state?: string };

/** Builds a Pod that was just created, with both readiness gates. */
function newPod({ owner = 'apps.kruise.io/v1beta1', nodeName = 'node', state = 'Normal' }: Traits = {}): Pod {
  const readinessGates = [kruisePodReadyCondition, inPlaceUpdateReadyCondition].map((conditionType) => ({
    conditionType,
  }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web-1',
      namespace: 'default',
      uid: 'uid',
      resourceVersion: '7',
      creationTimestamp: formatTime(now),
      labels: { [lifecycleStateLabel]: state },
      ownerReferences: [{ apiVersion: owner, kind: 'Some', name: 'web', uid: 'u', controller: true }],
    },
    spec: { containers: [], readinessGates, nodeName },
  };
}

function writtenBy(pod: Pod) {
  const [action, ...others] = flattenSteps(decide(pod, now).actions) as readonly PatchAction[];
  assert.equal(others.length, 0);
  const { metadata, status } = (action?.patch ?? {}) as {
    readonly metadata?: { readonly resourceVersion?: string };
    readonly status?: { readonly conditions: readonly PodCondition[] };
  };
  return {
    conditions: status?.conditions.map(({ type, status: value }) => `${type} ${value}`),
    at: metadata?.resourceVersion,
  };
}

test('both gates of a Pod of a Kruise workload are set over the observed version', () => {
  const conditions = [`${kruisePodReadyCondition} True`, `${inPlaceUpdateReadyCondition} True`];
  assert.deepEqual(writtenBy(newPod()), { conditions, at: '7' });
});

test('the gate of another Pod is set at once, over any version', () => {
  const pod = newPod({ owner: 'apps/v1', nodeName: '' });
  assert.deepEqual(writtenBy(pod), { conditions: [`${kruisePodReadyCondition} True`], at: undefined });
});

const waits: { is: string; pod: Pod; seconds: number }[] = [
  { is: 'has no node', pod: newPod({ nodeName: '' }), seconds: 2 },
  { is: 'has a node', pod: newPod(), seconds: 0 },
  { is: 'has a node, and its CloneSet is about to write', pod: newPod({ state: 'PreparingNormal' }), seconds: 10 },
];
for (const { is, pod, seconds } of waits) {
  test(`a new Pod of a Kruise workload that ${is} is set after ${seconds} s`, () => {
    if (seconds > 0) assert.deepEqual(decide(pod, now), { actions: [], requeueAfterSeconds: seconds });
    assert.equal(decide(pod, now + seconds * 1000).actions.length, 1);
  });
}

test('a clock far behind delays no Pod', () => {
  assert.equal(decide(newPod({ state: 'PreparingNormal' }), now - 3_600_000).actions.length, 1);
});

test('a terminating Pod is ignored', () => {
  const pod = newPod();
  const leaving = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: formatTime(now) } };
  assert.deepEqual(decide(leaving, now), { actions: [] });
});
