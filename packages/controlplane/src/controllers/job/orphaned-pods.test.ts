import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job } from '@kruise/api/batch/job';
import type { Pod } from '@kruise/api/core/pod';
import type { PatchAction } from '@kruise/client/actions';
import { jobOf, podOf } from './fixtures.ts';
import { decide } from './orphaned-pods.ts';

const pod = podOf('a');
const ownedBy = (reference: Partial<NonNullable<Pod['metadata']['ownerReferences']>[number]>): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, ownerReferences: [{ ...pod.metadata.ownerReferences![0]!, ...reference }] },
});
const over = { conditions: [{ type: 'Complete', status: 'True' }] };

const cases: readonly { readonly name: string; readonly pod?: Pod; readonly job?: Job; readonly goes: string }[] = [
  { name: 'an orphaned Pod', pod: { ...pod, metadata: { ...pod.metadata, ownerReferences: [] } }, goes: 'is released' },
  { name: 'a Pod of an active Job', job: jobOf(), goes: 'is kept' },
  { name: 'a Pod of a finished Job', job: jobOf({}, over), goes: 'is released' },
  { name: 'a Pod of a Job with another manager', job: jobOf({ managedBy: 'example.com/x' }, over), goes: 'is kept' },
  { name: 'a Pod of an unknown Job', goes: 'is released if the Job is gone' },
  {
    name: 'a Pod of an earlier Job',
    pod: ownedBy({ uid: 'before' }),
    job: jobOf(),
    goes: 'is released if the Job is gone',
  },
  { name: 'a Pod of another kind of owner', pod: ownedBy({ apiVersion: 'example.com/v1' }), goes: 'is kept' },
  { name: 'a Pod without the finalizer', pod: podOf('a', { isTracked: false }), goes: 'is kept' },
];
for (const { name, pod: found = pod, job, goes } of cases) {
  test(`${name} ${goes}`, () => {
    const [action] = decide({ pod: found, job }).actions as PatchAction[];
    const words = action ? `is released${action.confirmGone ? ' if the Job is gone' : ''}` : 'is kept';
    assert.equal(words, goes);
  });
}
