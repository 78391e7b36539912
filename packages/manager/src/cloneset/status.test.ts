import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CloneSetCondition, CloneSetStatus } from '@kruise/api/kruise/cloneset';
import { formatTime } from '@kruise/values/time';
import { cloneSetOf, now } from './fixtures.ts';
import { withCondition, withProgress } from './status.ts';

const complete: CloneSetStatus = {
  replicas: 3,
  readyReplicas: 3,
  availableReplicas: 3,
  updatedReplicas: 3,
  updatedReadyReplicas: 3,
  updatedAvailableReplicas: 3,
  expectedUpdatedReplicas: 3,
  currentRevision: 'web-new',
  updateRevision: 'web-new',
};
const underWay: CloneSetStatus = { ...complete, currentRevision: 'web-old', updatedAvailableReplicas: 1 };
const progressing = (reason: string, secondsAgo: number): CloneSetCondition => ({
  type: 'Progressing',
  status: reason === 'ProgressDeadlineExceeded' ? 'False' : 'True',
  reason,
  lastUpdateTime: formatTime(now - secondsAgo * 1000),
  lastTransitionTime: formatTime(now - secondsAgo * 1000),
});

const cases: {
  is: string;
  status: CloneSetStatus;
  before?: CloneSetCondition;
  paused?: boolean;
  expected: string;
  requeue?: number | undefined;
}[] = [
  { is: 'all Pods are available', status: complete, expected: 'True CloneSetAvailable' },
  { is: 'an update is in progress', status: underWay, expected: 'True CloneSetUpdated', requeue: 11 },
  {
    is: 'an update has been in progress for a while',
    status: underWay,
    before: progressing('CloneSetUpdated', 5),
    expected: 'True CloneSetUpdated',
    requeue: 6,
  },
  {
    is: 'the deadline is reached',
    status: underWay,
    before: progressing('CloneSetUpdated', 10),
    expected: 'True CloneSetUpdated',
  },
  {
    is: 'the deadline has passed',
    status: underWay,
    before: progressing('CloneSetUpdated', 11),
    expected: 'False ProgressDeadlineExceeded',
  },
  {
    is: 'the deadline was exceeded before',
    status: underWay,
    before: progressing('ProgressDeadlineExceeded', 1),
    expected: 'False ProgressDeadlineExceeded',
  },
  {
    is: 'the deadline was exceeded, but the update is complete',
    status: complete,
    before: progressing('ProgressDeadlineExceeded', 1),
    expected: 'True CloneSetAvailable',
  },
  {
    is: 'a new update starts long after the last one',
    status: underWay,
    before: progressing('CloneSetAvailable', 999),
    expected: 'True CloneSetUpdated',
    requeue: 11,
  },
  {
    is: 'an update is resumed',
    status: underWay,
    before: progressing('CloneSetPaused', 999),
    expected: 'True CloneSetUpdated',
    requeue: 11,
  },
  { is: 'an update is paused', status: underWay, paused: true, expected: 'True CloneSetPaused' },
  {
    is: 'the partition is reached',
    status: { ...underWay, expectedUpdatedReplicas: 1 },
    expected: 'True ProgressPartitionAvailable',
  },
];
for (const { is, status, before, paused = false, expected, requeue } of cases) {
  test(`when ${is}, Progressing is ${expected}`, () => {
    const cloneSet = cloneSetOf({
      replicas: 3,
      progressDeadlineSeconds: 10,
      updateStrategy: { rollingUpdate: { paused } },
    });
    const progress = withProgress(cloneSet, { ...status, ...(before ? { conditions: [before] } : {}) }, now);
    const [condition] = progress.status.conditions ?? [];
    assert.equal(`${condition?.status} ${condition?.reason}`, expected);
    assert.equal(progress.requeueAfterSeconds, requeue);
  });
}

for (const progressDeadlineSeconds of [undefined, 2147483647]) {
  test(`with a deadline of ${progressDeadlineSeconds} there is no Progressing condition`, () => {
    const cloneSet = cloneSetOf(progressDeadlineSeconds === undefined ? {} : { progressDeadlineSeconds });
    const { status } = withProgress(cloneSet, { ...underWay, conditions: [progressing('CloneSetUpdated', 1)] }, now);
    assert.deepEqual(status.conditions, []);
  });
}

test('a condition with the same status and reason is not changed', () => {
  const status = { ...underWay, conditions: [progressing('CloneSetUpdated', 5)] };
  assert.equal(
    withCondition(status, { type: 'Progressing', status: 'True', reason: 'CloneSetUpdated', message: 'new' }, now),
    status,
  );
});

test('a new reason changes the update time, a new status also the transition time', () => {
  const before = progressing('CloneSetUpdated', 5);
  const status = { ...underWay, conditions: [before] };
  const paused = withCondition(status, { type: 'Progressing', status: 'True', reason: 'CloneSetPaused' }, now)
    .conditions?.[0];
  assert.deepEqual([paused?.lastUpdateTime, paused?.lastTransitionTime], [formatTime(now), before.lastTransitionTime]);
  const late = withCondition(status, { type: 'Progressing', status: 'False', reason: 'X' }, now).conditions?.[0];
  assert.equal(late?.lastTransitionTime, formatTime(now));
});
