/**
 * CronJob reconciler: creates Jobs on a schedule. Only the latest of several missed runs is started. The Job name
 * contains the scheduled time, so that a run never starts twice, even after lost state.
 */
import type { CronJob, CronJobStatus } from '@kruise/api/batch/cronjob';
import type { Job } from '@kruise/api/batch/job';
import {
  type Action,
  asOptional,
  create,
  isBeingDeleted,
  parallel,
  type RecordAction,
  type RemoveAction,
  record,
  remove,
  type Step,
  withOutcomeEvents,
} from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { Outcome } from '@kruise/client/execute';
import type { KubernetesObject } from '@kruise/client/object-key';
import { nextRun, parseSchedule, type Schedule } from '@kruise/machinery/cron';
import { controllerReference, isControlledBy } from '@kruise/machinery/owner-references';
import { type TimeZone, timeZone } from '@kruise/machinery/time-zone';
import { quote } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { missedRuns } from '@kruise/workload-kit/schedule/missed-runs';
import { formatInZone } from '@kruise/workload-kit/schedule/zoned-time';
import { type Active, deriveHistory, type Observed, outdatedJobs } from './history.ts';

/** Tolerance for clock skew: a reconcile that is slightly late still finds the run. */
const clockSkewMs = 100;
/** Number of missed runs above which a warning event is emitted. */
const missedRunThreshold = 100;
const minuteMs = 60_000;

export function decide(observed: Observed, now: Instant): Decision<CronJobStatus> {
  const { cronJob } = observed;
  const { active, lastSuccessfulTime, events } = deriveHistory(observed);
  // A failed deletion of old Jobs must not block new Jobs.
  const cleanUp = outdatedJobs(observed).map((job) => asOptional(deletion(cronJob, job)));
  const start = planRun({ ...observed, active }, now);
  return {
    actions: [...parallel(cleanUp), ...events, ...start.actions],
    status: (outcome) => ({
      ...cronJob.status,
      ...(lastSuccessfulTime === undefined ? {} : { lastSuccessfulTime }),
      ...start.status(outcome),
    }),
    ...(start.nextRun === undefined
      ? {}
      : { requeueAfterSeconds: Math.max(0, start.nextRun + clockSkewMs - now) / 1000 }),
  };
}

type State = Observed & { readonly active: Active };

/** Actions for the run that is due, the resulting status, and the time of the next run. */
type RunPlan = {
  readonly actions: readonly Step[];
  readonly status: (outcome: Outcome) => Pick<CronJobStatus, 'active' | 'lastScheduleTime'>;
  readonly nextRun?: Instant | undefined;
};

function planRun(state: State, now: Instant): RunPlan {
  const { cronJob, active } = state;
  const { schedule: text = '', timeZone: zoneName = '', suspend, startingDeadlineSeconds } = cronJob.spec ?? {};
  const idle = (...actions: readonly Action[]): RunPlan => ({ actions, status: () => ({ active }) });
  if (isBeingDeleted(cronJob)) return idle();
  const zone = attempt(() => timeZone(zoneName));
  if (zone instanceof ParseError) {
    return idle(warn(cronJob, 'UnknownTimeZone', `invalid timeZone: ${quote(zoneName)}: ${zone.message}`));
  }
  if (suspend) return idle();
  const warnings = text.includes('TZ') ? [warn(cronJob, 'UnsupportedSchedule', unsupported(text))] : [];
  const schedule = attempt(() => parseSchedule(text, zone));
  if (schedule instanceof ParseError) {
    const fault = `unparseable schedule: ${quote(text)} : ${schedule.message}`;
    return idle(...warnings, warn(cronJob, 'UnparseableSchedule', fault));
  }

  const since = checkedSince(cronJob);
  const deadlineMs =
    startingDeadlineSeconds === undefined ? Number.POSITIVE_INFINITY : Number(startingDeadlineSeconds) * 1000;
  const missed = missedRuns(schedule, Math.max(since, now - deadlineMs), now);
  if (!missed) {
    const fault = `invalid schedule: ${text} : time difference between two schedules is less than 1 second`;
    return idle(...warnings, warn(cronJob, 'InvalidSchedule', fault));
  }
  if (missed.last === undefined) return { ...idle(...warnings), nextRun: nextFutureRun(schedule, since, now) };
  if (missed.count > missedRunThreshold) warnings.push(warn(cronJob, 'TooManyMissedTimes', tooManyMissed));
  const start = startAt(state, missed.last, zone);
  const actions = [...warnings, ...start.actions];
  return { ...start, actions, nextRun: nextFutureRun(schedule, since, now) };
}

function checkedSince({ metadata, status }: CronJob): Instant {
  return parseTime(status?.lastScheduleTime ?? metadata.creationTimestamp ?? formatTime(0));
}

/** Returns the first run after now. Runs keep the phase of the schedule since the given time. */
function nextFutureRun(schedule: Schedule, since: Instant, now: Instant): Instant | undefined {
  return nextRun(schedule, missedRuns(schedule, since, now)?.last ?? since);
}

function startAt({ cronJob, active, jobs, findJob }: State, dueAt: Instant, zone: TimeZone): RunPlan {
  const idle = (...actions: readonly Action[]): RunPlan => ({ actions, status: () => ({ active }) });
  const name = `${cronJob.metadata.name}-${Math.floor(dueAt / minuteMs)}`;
  const { lastScheduleTime } = cronJob.status ?? {};
  if (lastScheduleTime && parseTime(lastScheduleTime) === dueAt) return idle();
  if (active.some((each) => each.name === name)) return idle();
  const policy = cronJob.spec?.concurrencyPolicy;
  if (policy === 'Forbid' && active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    return idle(record({ about: cronJob, type: 'Normal', reason: 'JobAlreadyActive', message }));
  }
  const existing = findJob(name);
  if (existing && !isControlledBy(existing, cronJob)) return idle();

  const isReplaced = policy === 'Replace';
  const listed = new Set(active.map(({ uid }) => uid));
  const replaced = isReplaced ? jobs.filter(({ metadata }) => listed.has(metadata.uid)) : [];
  const creation = withOutcomeEvents(create(jobOf(cronJob, { name, dueAt, zone })), {
    about: cronJob,
    done: { reason: 'SuccessfulCreate', message: 'Created job {name}' },
    failed: { reason: 'FailedCreate', message: 'Error creating job: {error}' },
  });
  return {
    actions: [...parallel(replaced.map((job) => deletion(cronJob, job))), ...(existing ? [] : [creation])],
    status({ failures, written }) {
      const started =
        existing ?? [...written.values()].find(({ kind, metadata }) => kind === 'Job' && metadata.name === name);
      if (failures.length > 0 || !started) return { active };
      return { active: [...(isReplaced ? [] : active), referenceTo(started)], lastScheduleTime: formatTime(dueAt) };
    },
  };
}

function jobOf(cronJob: CronJob, { name, dueAt, zone }: { name: string; dueAt: Instant; zone: TimeZone }): Job {
  const { metadata, spec } = cronJob.spec?.jobTemplate ?? {};
  const { namespace } = cronJob.metadata;
  const scheduled = { 'batch.kubernetes.io/cronjob-scheduled-timestamp': formatInZone(dueAt, zone) };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(metadata?.labels ? { labels: metadata.labels } : {}),
      annotations: { ...metadata?.annotations, ...scheduled },
      ownerReferences: [controllerReference(cronJob)],
    },
    ...(spec ? { spec } : {}),
  };
}

function referenceTo({ apiVersion, kind, metadata }: KubernetesObject): Active[number] {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata;
  return { kind, namespace, name, uid, apiVersion, resourceVersion };
}

function deletion(cronJob: CronJob, job: Job): RemoveAction {
  const action: RemoveAction = { ...remove(job), options: { propagationPolicy: 'Background' } };
  return withOutcomeEvents(action, {
    about: cronJob,
    done: { reason: 'SuccessfulDelete', message: 'Deleted job {name}' },
    failed: { reason: 'FailedDelete', message: 'Deleted job: {error}' },
  });
}

function warn(cronJob: CronJob, reason: string, message: string): RecordAction {
  return record({ about: cronJob, type: 'Warning', reason, message });
}

const tooManyMissed = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';

function unsupported(schedule: string): string {
  const page = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/';
  return `CRON_TZ or TZ used in schedule ${quote(schedule)} is not officially supported, see ${page} for more details`;
}

/** Returns the parsed value, or the parse error. */
function attempt<T>(read: () => T): T | ParseError {
  try {
    return read();
  } catch (error) {
    if (error instanceof ParseError) return error;
    throw error;
  }
}
