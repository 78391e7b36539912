import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job, JobStatus } from '@kruise/api/batch/job';
import type { RemoveAction } from '@kruise/client/actions';
import { formatTime, instantOf } from '@kruise/values/time';
import fc from 'fast-check';
import { decide } from './decide.ts';

const now = instantOf(2026, 1, 1, 12);
const ended = (secondsAgo: number, type = 'Complete'): JobStatus => ({
  conditions: [{ type, status: 'True', lastTransitionTime: formatTime(now - secondsAgo * 1000) }],
});
const jobOf = (status: JobStatus, ttlSecondsAfterFinished?: number, metadata: Job['metadata'] = {}): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'sum', uid: 'u', resourceVersion: '7', ...metadata },
  spec: { template: {}, ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }) },
  status,
});

const cases = [
  { name: 'a Job is deleted after its TTL', job: jobOf(ended(60), 60), does: 'delete' },
  { name: 'a failed Job is deleted, too', job: jobOf(ended(61, 'Failed'), 60), does: 'delete' },
  { name: 'a Job with a zero TTL is deleted at once', job: jobOf(ended(0), 0), does: 'delete' },
  { name: 'a Job is requeued at the end of its TTL', job: jobOf(ended(45), 60), does: 'wait 15' },
  { name: 'a Job without a TTL is kept', job: jobOf(ended(1e6)), does: '' },
  { name: 'an active Job is kept', job: jobOf({}, 0), does: '' },
  { name: 'a Job that is about to finish is kept', job: jobOf(ended(60, 'FailureTarget'), 0), does: '' },
  {
    name: 'a Job is deleted once',
    job: jobOf(ended(60), 0, { deletionTimestamp: formatTime(now) }),
    does: '',
  },
];
for (const { name, job, does } of cases) {
  test(name, () => {
    const { actions, requeueAfterSeconds } = decide(job, now);
    const words =
      actions.length > 0 ? 'delete' : requeueAfterSeconds === undefined ? '' : `wait ${requeueAfterSeconds}`;
    assert.equal(words, does);
  });
}

test('a Job is deleted in the foreground, with a precondition', () => {
  const [action] = decide(jobOf(ended(60), 60), now).actions as RemoveAction[];
  assert.deepEqual(action?.options, { propagationPolicy: 'Foreground', preconditions: { resourceVersion: '7' } });
});

test('after the requeue delay, the TTL has passed, and the Job is deleted once', () => {
  fc.assert(
    fc.property(fc.nat(100_000), fc.nat(100_000), fc.constantFrom('Complete', 'Failed'), (ago, ttl, type) => {
      const job = jobOf(ended(ago, type), ttl);
      const { actions, requeueAfterSeconds } = decide(job, now);
      assert.equal(actions.length > 0, ago >= ttl);
      const later = now + (requeueAfterSeconds ?? 0) * 1000;
      assert.equal(decide(job, later).actions.length, 1);
      const going = jobOf(ended(ago, type), ttl, { deletionTimestamp: formatTime(later) });
      assert.deepEqual(decide(going, later), { actions: [] });
    }),
  );
});
