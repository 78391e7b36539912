import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodCondition } from '@kruise/api/core/pod';
import {
  inPlaceUpdateReadyCondition,
  kruisePodReadyCondition,
  lifecycleStateLabel,
} from '@kruise/api/kruise/well-known';
import type { PatchAction } from '@kruise/client/actions';
import { formatTime, instantOf } from '@kruise/values/time';
import { endInPlaceUpdate, holdNotReady, releaseNotReady } from './pod-readiness.ts';

const now = instantOf(2026, 1, 1);
const a = { userAgent: 'a', key: 'k' };
const b = { userAgent: 'b', key: 'k' };

function podHeldBy(keys: readonly (typeof a)[] | undefined, { isGated = true, isReady = true } = {}): Pod {
  const kruise: readonly PodCondition[] = keys
    ? [{ type: kruisePodReadyCondition, status: keys.length > 0 ? 'False' : 'True', message: JSON.stringify(keys) }]
    : [];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod', uid: 'uid', resourceVersion: '9' },
    spec: {
      containers: [],
      ...(isGated ? { readinessGates: [{ conditionType: kruisePodReadyCondition }, { conditionType: 'other' }] } : {}),
    },
    status: {
      conditions: [
        { type: 'ContainersReady', status: 'True' },
        { type: 'Ready', status: isReady ? 'True' : 'False' },
        ...kruise,
      ],
    },
  };
}

const writtenBy = ([action]: readonly PatchAction[]) => {
  const { status } = (action?.patch ?? {}) as { status?: { conditions: readonly PodCondition[] } };
  return status?.conditions.map(({ type, status: value, message }) => [type, value, message]);
};

test('a Pod is held by each key once, and the keys are sorted', () => {
  assert.deepEqual(writtenBy(holdNotReady(podHeldBy([b], { isReady: false }), a, now)), [
    [kruisePodReadyCondition, 'False', JSON.stringify([a, b])],
  ]);
  assert.deepEqual(holdNotReady(podHeldBy([a]), a, now), []);
});

test('a ready Pod becomes not ready by the same write, with a reason', () => {
  const written = writtenBy(holdNotReady(podHeldBy(undefined), a, now));
  assert.deepEqual(written, [
    [kruisePodReadyCondition, 'False', JSON.stringify([a])],
    [
      'Ready',
      'False',
      'the status of pod readiness gate "KruisePodReady" is not "True", but False, corresponding condition of pod readiness gate "other" does not exist.',
    ],
  ]);
});

test('a Pod may become ready when the last key is removed', () => {
  assert.deepEqual(writtenBy(releaseNotReady(podHeldBy([a, b]), a, now)), [
    [kruisePodReadyCondition, 'False', JSON.stringify([b])],
  ]);
  assert.deepEqual(writtenBy(releaseNotReady(podHeldBy([a]), a, now)), [[kruisePodReadyCondition, 'True', '[]']]);
  assert.deepEqual(releaseNotReady(podHeldBy([b]), a, now), []);
});

test('a Pod without the gate is left alone', () => {
  const pod = podHeldBy([a], { isGated: false });
  assert.deepEqual([holdNotReady(pod, b, now), releaseNotReady(pod, a, now)], [[], []]);
});

test('keys are written only over the observed ones', () => {
  const [action] = holdNotReady(podHeldBy([b]), a, now);
  assert.equal((action!.patch as { metadata?: { resourceVersion?: string } }).metadata?.resourceVersion, '9');
});

function newPod({ of = 'apps.kruise.io/v1beta1', nodeName = '', state = 'Normal' }): Pod {
  const pod = podHeldBy(undefined);
  const owner = { apiVersion: of, kind: 'Some', name: 'web', uid: 'u', controller: true };
  const readinessGates = [kruisePodReadyCondition, inPlaceUpdateReadyCondition].map((conditionType) => ({
    conditionType,
  }));
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { [lifecycleStateLabel]: state },
      ownerReferences: [owner],
      creationTimestamp: formatTime(now),
    },
    spec: { ...pod.spec!, readinessGates, nodeName },
  };
}

test('the workload initializes both gates of a Pod, and later writes only its own', () => {
  const writes = (pod: Pod) => writtenBy(endInPlaceUpdate(pod, now))?.map(([type, status]) => `${type} ${status}`);
  const pod = newPod({ nodeName: 'node' });
  assert.deepEqual(writes(pod), [`${inPlaceUpdateReadyCondition} True`, `${kruisePodReadyCondition} True`]);
  const held = { ...pod, status: { conditions: [{ type: kruisePodReadyCondition, status: 'False' } as const] } };
  assert.deepEqual(writes(held), [`${inPlaceUpdateReadyCondition} True`]);
});
