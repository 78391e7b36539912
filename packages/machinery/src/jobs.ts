/** Status of Jobs. */
import type { JobCondition, JobStatus } from '@kruise/api/batch/job';

/**
 * Returns the condition `Complete` or `Failed` of a finished Job; undefined while the Job is active.
 *
 * ```ts
 * const hasFailed = findFinishedCondition(backup.status)?.type === 'Failed';
 * ```
 */
export function findFinishedCondition(status: JobStatus | undefined): JobCondition | undefined {
  return status?.conditions?.find(
    (each) => (each.type === 'Complete' || each.type === 'Failed') && each.status === 'True',
  );
}
