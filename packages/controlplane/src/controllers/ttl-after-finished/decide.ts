/** TTL-after-finished reconciler: deletes finished Jobs, together with their Pods, after their TTL. */
import type { Job, JobStatus } from '@kruise/api/batch/job';
import { isBeingDeleted, remove } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { findFinishedCondition } from '@kruise/machinery/jobs';
import { type Instant, parseTime } from '@kruise/values/time';

export function decide(job: Job, now: Instant): Decision<JobStatus | undefined> {
  const expiresAt = expiryOf(job);
  if (expiresAt === undefined || isBeingDeleted(job)) return { actions: [] };
  if (expiresAt > now) return { actions: [], requeueAfterSeconds: (expiresAt - now) / 1000 };
  const { resourceVersion } = job.metadata;
  // The precondition protects a Job whose TTL was just extended while the cache is stale.
  const preconditions = resourceVersion === undefined ? {} : { resourceVersion };
  return { actions: [{ ...remove(job), options: { propagationPolicy: 'Foreground', preconditions } }] };
}

function expiryOf({ spec, status }: Job): Instant | undefined {
  const endedAt = findFinishedCondition(status)?.lastTransitionTime;
  const { ttlSecondsAfterFinished } = spec ?? {};
  if (!endedAt || ttlSecondsAfterFinished === undefined) return undefined;
  return parseTime(endedAt) + ttlSecondsAfterFinished * 1000;
}
