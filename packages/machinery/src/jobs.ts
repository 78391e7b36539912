/** What others ask of a Job. */
import type { JobCondition, JobStatus } from '@kruise/api/batch/job';

/** How a Job has ended, and when: its condition `Complete` or `Failed`. None while it goes on. */
export function endOfJob(status: JobStatus | undefined): JobCondition | undefined {
  return status?.conditions?.find(
    (each) => (each.type === 'Complete' || each.type === 'Failed') && each.status === 'True',
  );
}
