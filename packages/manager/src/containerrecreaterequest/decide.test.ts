import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type {
  ContainerRecreateRequest,
  ContainerRecreateRequestSpec,
  ContainerRecreateRequestStatus,
} from '@kruise/api/kruise/containerrecreaterequest';
import {
  kruisePodReadyCondition,
  preRecreateGraceCondition,
  recreateActiveLabel,
  recreatePodUidLabel,
  recreateUnreadyAcquired,
} from '@kruise/api/kruise/well-known';
import { flattenSteps } from '@kruise/client/actions';
import type { Outcome } from '@kruise/client/execute';
import { formatTime, instantOf } from '@kruise/values/time';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
import { decide } from './decide.ts';

const now = instantOf(2026, 1, 1, 12);
const ago = (seconds: number) => formatTime(now - seconds * 1000);

type Traits = {
  readonly spec?: Partial<ContainerRecreateRequestSpec>;
  readonly status?: ContainerRecreateRequestStatus;
  readonly metadata?: ContainerRecreateRequest['metadata'];
  readonly ageSeconds?: number;
};

function requestOf({ spec = {}, status, metadata = {}, ageSeconds = 10 }: Traits = {}): ContainerRecreateRequest {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'ContainerRecreateRequest',
    metadata: {
      name: 'restart',
      namespace: 'default',
      creationTimestamp: ago(ageSeconds),
      labels: { [recreatePodUidLabel]: 'pod-uid', [recreateActiveLabel]: 'true' },
      ...metadata,
    },
    spec: { podName: 'app', containers: [{ name: 'main' }], strategy: {}, ...spec },
    ...(status ? { status } : {}),
  };
}

function podOf(uid = 'pod-uid', startedSecondsAgo = 60, isHeld = false): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'app', namespace: 'default', uid },
    spec: {
      containers: [{ name: 'main', image: 'app' }],
      readinessGates: [{ conditionType: kruisePodReadyCondition }],
    },
    status: {
      conditions: isHeld
        ? [
            {
              type: kruisePodReadyCondition,
              status: 'False',
              message: '[{"userAgent":"ContainerRecreateRequest","key":"default/restart"}]',
            },
          ]
        : [{ type: kruisePodReadyCondition, status: 'True' }],
      containerStatuses: [
        {
          name: 'main',
          image: '',
          imageID: '',
          ready: true,
          restartCount: 1,
          containerID: 'containerd://new',
          state: { running: { startedAt: ago(startedSecondsAgo) } },
          lastState: {},
        },
      ],
    },
  };
}

function decided(request: ContainerRecreateRequest, pod: Pod | undefined = podOf()) {
  const { actions, status, requeueAfterSeconds } = decide({ request, pod }, now);
  const outcome: Outcome = { failures: [], isStale: false, written: new Map() };
  const result = (typeof status === 'function' ? status(outcome) : status) as
    | ContainerRecreateRequestStatus
    | undefined;
  return { does: summarizeActions(actions), status: result, requeueAfterSeconds, decideStatus: status };
}

const over: ContainerRecreateRequestStatus = { phase: 'Completed', completionTime: ago(5) };
const recreating: ContainerRecreateRequestStatus = { phase: 'Recreating' };

const ends: readonly (readonly [
  is: string,
  request: ContainerRecreateRequest,
  pod: Pod | undefined,
  message: string,
])[] = [
  ['whose Pod is gone', requestOf(), undefined, 'pod has gone'],
  ['whose Pod has another UID', requestOf(), podOf('other'), 'pod has gone'],
  [
    'whose Pod is terminating',
    requestOf(),
    { ...podOf(), metadata: { ...podOf().metadata, deletionTimestamp: ago(1) } },
    'pod has gone',
  ],
  ['that no daemon accepts', requestOf({ ageSeconds: 60 }), podOf(), 'daemon has not responded for a long time'],
  [
    'past its deadline',
    requestOf({ spec: { activeDeadlineSeconds: 10 }, status: recreating }),
    podOf(),
    'recreating has exceeded the activeDeadlineSeconds',
  ],
];
for (const [is, request, pod, message] of ends) {
  test(`a request ${is} completes`, () => {
    const { status } = decide({ request, pod }, now) as { status?: ContainerRecreateRequestStatus };
    assert.deepEqual([status?.phase, status?.message, status?.completionTime], ['Completed', message, formatTime(now)]);
  });
}

test('a request is requeued for its next timeout', () => {
  assert.equal(decided(requestOf()).requeueAfterSeconds, 50);
  assert.equal(decided(requestOf({ spec: { activeDeadlineSeconds: 30 } })).requeueAfterSeconds, 20);
  assert.equal(decided(requestOf({ status: { phase: 'Pending' } })).requeueAfterSeconds, undefined);
  assert.equal(decided(requestOf({ status: recreating })).requeueAfterSeconds, 3);
});

test('the status of restarted containers is copied, the status of old containers is not', () => {
  const snapshot = [{ name: 'main', ready: true, restartCount: 1, containerID: 'containerd://new' }];
  const request = requestOf({ status: recreating });
  assert.deepEqual(decided(request, podOf('pod-uid', 5)).status?.containerStatusSnapshot, snapshot);
  assert.equal(decided(request, podOf('pod-uid', 60)).status?.containerStatusSnapshot, undefined);
  const noted = requestOf({ status: { ...recreating, containerStatusSnapshot: snapshot } });
  assert.deepEqual(decided(noted, podOf('pod-uid', 60)).status?.containerStatusSnapshot, snapshot);
});

const unready = { strategy: { unreadyGracePeriodSeconds: 3 } };

test('a Pod is held not ready before its containers stop, and the condition is set afterwards', () => {
  const { does, status, decideStatus } = decided(requestOf({ spec: unready, status: recreating }));
  assert.deepEqual(does, ['patch restart', 'patch app']);
  const condition = status?.conditions?.[0];
  assert.deepEqual([condition?.type, condition?.lastTransitionTime], [preRecreateGraceCondition, formatTime(now)]);
  const failed: Outcome = { failures: [], isStale: true, written: new Map() };
  assert.equal((decideStatus as (outcome: Outcome) => ContainerRecreateRequestStatus)(failed).conditions, undefined);
});

test('the time since which a Pod is not ready stays', () => {
  const known = {
    type: preRecreateGraceCondition,
    status: 'True' as const,
    reason: 'x',
    message: '',
    lastTransitionTime: ago(2),
  };
  const { does, status } = decided(
    requestOf({ spec: unready, status: { ...recreating, conditions: [known] } }),
    podOf(),
  );
  assert.deepEqual([does, status?.conditions], [[], [known]]);
});

test('a completed request releases its Pod and its finalizer', () => {
  const held = requestOf({
    status: over,
    metadata: { ...requestOf().metadata, finalizers: [recreateUnreadyAcquired] },
  });
  assert.deepEqual(decided(held, podOf('pod-uid', 60, true)).does, ['patch app', 'patch restart', 'patch restart']);
  assert.deepEqual(flattenSteps(decide({ request: held, pod: undefined }, now).actions).length, 2);
  const leaving = { ...held, metadata: { ...held.metadata, deletionTimestamp: ago(1) } };
  assert.deepEqual(decided(leaving, podOf('pod-uid', 60, true)).does, ['patch app', 'patch restart']);
});

test('a completed request is deleted after its TTL', () => {
  const labels = { [recreatePodUidLabel]: 'pod-uid' };
  const after = (ttlSecondsAfterFinished?: number) =>
    decided(
      requestOf({
        status: over,
        metadata: { name: 'restart', labels },
        spec: ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished },
      }),
    );
  assert.deepEqual([after().does, after().requeueAfterSeconds], [[], undefined]);
  assert.deepEqual([after(10).does, after(10).requeueAfterSeconds], [[], 5]);
  assert.deepEqual(after(5).does, ['delete restart']);
});
