/** History of a CronJob: status of the Jobs it created, and old Jobs to delete. */
import type { CronJob, CronJobStatus } from '@kruise/api/batch/cronjob';
import type { Job } from '@kruise/api/batch/job';
import { isBeingDeleted, type RecordAction, record } from '@kruise/client/actions';
import { findFinishedCondition } from '@kruise/machinery/jobs';
import { compareStrings } from '@kruise/values/go-syntax';
import { parseTime } from '@kruise/values/time';

export type Observed = {
  readonly cronJob: CronJob;
  /** Jobs that this CronJob created. */
  readonly jobs: readonly Job[];
  /** Returns the Job with a name in the namespace, regardless of its owner. */
  readonly findJob: (name: string) => Job | undefined;
};

/** References to the Jobs that have not finished. */
export type Active = NonNullable<CronJobStatus['active']>;

/** State of the created Jobs, and events to emit. */
export type JobHistory = {
  readonly active: Active;
  readonly lastSuccessfulTime: string | undefined;
  readonly events: readonly RecordAction[];
};

export function deriveHistory({ cronJob, jobs, findJob }: Observed): JobHistory {
  const { active = [], lastSuccessfulTime } = cronJob.status ?? {};
  const newEvent = (type: 'Normal' | 'Warning', reason: string, message: string) =>
    record({ about: cronJob, type, reason, message });
  const listed = new Set(active.map(({ uid }) => uid));
  const known = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const events: RecordAction[] = [];
  let latest = lastSuccessfulTime ?? undefined;
  for (const { metadata, status } of jobs) {
    const { name, uid } = metadata;
    const end = findFinishedCondition(status);
    if (!end && !listed.has(uid)) {
      events.push(
        newEvent('Warning', 'UnexpectedJob', `Saw a job that the controller did not create or forgot: ${name}`),
      );
    } else if (end && listed.has(uid)) {
      events.push(newEvent('Normal', 'SawCompletedJob', `Saw completed job: ${name}, condition: ${end.type}`));
    }
    const { completionTime } = status ?? {};
    const isLater = completionTime && (latest === undefined || parseTime(completionTime) > parseTime(latest));
    if (end?.type === 'Complete' && isLater) latest = completionTime;
  }
  const left = active.filter(({ uid, name = '' }) => {
    const job = known.get(uid);
    if (job) return !findFinishedCondition(job.status);
    const isMissing = !findJob(name);
    if (isMissing) events.push(newEvent('Normal', 'MissingJob', `Active job went missing: ${name}`));
    return !isMissing;
  });
  return { active: left, lastSuccessfulTime: latest, events };
}

/** Returns the oldest finished Jobs above the history limits. */
export function outdatedJobs({ cronJob, jobs }: Observed): readonly Job[] {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cronJob.spec ?? {};
  const beyond = (end: 'Complete' | 'Failed', limit = Number.POSITIVE_INFINITY) => {
    const ended = jobs.filter(({ status }) => findFinishedCondition(status)?.type === end).sort(byStart);
    return ended.slice(0, Math.max(0, ended.length - limit));
  };
  const outdated = [...beyond('Complete', successfulJobsHistoryLimit), ...beyond('Failed', failedJobsHistoryLimit)];
  return outdated.filter((job) => !isBeingDeleted(job));
}

function byStart(a: Job, b: Job): number {
  const [first, second] = [startOf(a), startOf(b)];
  return first === second ? compareStrings(a.metadata.name ?? '', b.metadata.name ?? '') : first - second;
}

function startOf({ status }: Job): number {
  return status?.startTime ? parseTime(status.startTime) : Number.POSITIVE_INFINITY;
}
