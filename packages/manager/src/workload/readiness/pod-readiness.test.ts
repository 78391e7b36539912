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
import { decide } from './controller.ts';
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

const controller: { is: string; pod: Pod; writes: number }[] = [
  { is: 'has the gate and no condition', pod: podHeldBy(undefined), writes: 1 },
  { is: 'has the condition', pod: podHeldBy([a]), writes: 0 },
  { is: 'has no gate', pod: podHeldBy(undefined, { isGated: false }), writes: 0 },
  {
    is: 'is on its way out',
    pod: { ...podHeldBy(undefined), metadata: { name: 'pod', deletionTimestamp: '2026-01-01T00:00:00Z' } },
    writes: 0,
  },
];
for (const { is, pod, writes } of controller) {
  test(`the controller ${writes ? 'opens the gate of' : 'leaves alone'} a Pod that ${is}`, () => {
    assert.equal(decide(pod, now).actions.length, writes);
  });
}

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

for (const { of, writes } of [
  { of: 'apps.kruise.io/v1beta1', writes: [kruisePodReadyCondition, inPlaceUpdateReadyCondition] },
  { of: 'apps/v1', writes: [kruisePodReadyCondition] },
]) {
  test(`for a new Pod with both gates, of a workload of ${of}, the controller writes ${writes.join(' and ')}`, () => {
    const actions = decide(newPod({ of, nodeName: 'node' }), now).actions as readonly PatchAction[];
    assert.deepEqual(
      writtenBy(actions)?.map(([type, status]) => `${type} ${status}`),
      writes.map((type) => `${type} True`),
    );
  });
}

const patience: { is: string; pod: Pod; seconds: number }[] = [
  { is: 'has no node', pod: newPod({}), seconds: 2 },
  { is: 'has a node', pod: newPod({ nodeName: 'node' }), seconds: 0 },
  {
    is: 'has a node, and its CloneSet is about to write',
    pod: newPod({ nodeName: 'node', state: 'PreparingNormal' }),
    seconds: 10,
  },
];
for (const { is, pod, seconds } of patience) {
  test(`a new Pod of a Kruise workload that ${is} gets ${seconds} s`, () => {
    if (seconds > 0) assert.deepEqual(decide(pod, now), { actions: [], requeueAfterSeconds: seconds });
    assert.equal(decide(pod, now + seconds * 1000).actions.length, 1);
  });
}

test('a clock far behind delays no Pod', () => {
  assert.equal(decide(newPod({ nodeName: 'node', state: 'PreparingNormal' }), now - 3_600_000).actions.length, 1);
});

test('the workload initializes both gates of a Pod, and later writes only its own', () => {
  const writes = (pod: Pod) => writtenBy(endInPlaceUpdate(pod, now))?.map(([type, status]) => `${type} ${status}`);
  const pod = newPod({ nodeName: 'node' });
  assert.deepEqual(writes(pod), [`${inPlaceUpdateReadyCondition} True`, `${kruisePodReadyCondition} True`]);
  const held = { ...pod, status: { conditions: [{ type: kruisePodReadyCondition, status: 'False' } as const] } };
  assert.deepEqual(writes(held), [`${inPlaceUpdateReadyCondition} True`]);
});
