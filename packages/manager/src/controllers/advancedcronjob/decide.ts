/** Starts jobs by the clock (jobs.md §2.7). */
import type { AdvancedCronJob, AdvancedCronJobStatus } from '@kruise/api/kruise/advancedcronjob';
import { type Action, create, isBeingDeleted, optional, type RemoveAction, remove } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { KubernetesObject } from '@kruise/client/object-key';
import { missedRuns } from '@kruise/controlplane/controllers/cronjob/missed-runs';
import { nextRun, parseSchedule, type Schedule } from '@kruise/machinery/cron';
import { type TimeZone, timeZone } from '@kruise/machinery/time-zone';
import { ParseError } from '@kruise/values/parse-error';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { childName, childOf, templateOf } from './child.ts';
import { type Child, outdated, referenceTo, scheduledAt, stateOf } from './children.ts';

export type Observed = {
  readonly cronJob: AdvancedCronJob;
  /** What it has started. */
  readonly children: readonly Child[];
  /** What has a name in its namespace and could be its own, whoever it belongs to. */
  readonly find: (name: string) => KubernetesObject | undefined;
  /** Where schedules are read that do not say where. */
  readonly localZone: TimeZone;
};

export function decide(observed: Observed, now: Instant): Decision<AdvancedCronJobStatus> {
  const { cronJob, children } = observed;
  const { spec } = cronJob;
  const active = children.filter((child) => stateOf(child) === 'active');
  const lastAt = lastScheduledAt(cronJob, children);
  const status: AdvancedCronJobStatus = {
    type: templateOf(spec).kind.kind as NonNullable<AdvancedCronJobStatus['type']>,
    ...(active.length > 0 ? { active: active.map(referenceTo) } : {}),
    ...(lastAt === undefined ? {} : { lastScheduleTime: formatTime(lastAt) }),
  };
  const superfluous = [
    ...outdated(children, 'failed', spec.failedJobsHistoryLimit),
    ...outdated(children, 'succeeded', spec.successfulJobsHistoryLimit),
  ];
  // History that cannot be deleted must not keep anything from being started.
  const tidying = superfluous.filter((child) => !isBeingDeleted(child)).map((child) => optional(deletion(child)));
  const idle = { actions: tidying, status };
  if (spec.paused || isBeingDeleted(cronJob)) return idle;
  const schedule = scheduleOf(observed);
  // Nothing can be done until someone writes another, which wakes the job.
  if (!schedule) return idle;

  const next = nextRun(schedule, now);
  const waiting = { ...idle, ...(next === undefined ? {} : { requeueAfterSeconds: (next - now) / 1000 }) };
  const dueAt = dueSince(schedule, cronJob, lastAt, now);
  if (dueAt === undefined || (spec.concurrencyPolicy === 'Forbid' && active.length > 0)) return waiting;
  if (observed.find(childName(cronJob, dueAt))) return waiting;
  return {
    ...waiting,
    actions: [...tidying, ...start(observed, active, dueAt)],
    status: ({ failures }) => (failures.length > 0 ? status : { ...status, lastScheduleTime: formatTime(dueAt) }),
  };
}

/** The last time something was started for: what is gone meanwhile was started all the same. */
function lastScheduledAt({ status }: AdvancedCronJob, children: readonly Child[]): Instant | undefined {
  const known = status?.lastScheduleTime == null ? [] : [parseTime(status.lastScheduleTime)];
  const times = [...known, ...children.map(scheduledAt).filter((time) => time !== undefined)];
  return times.length === 0 ? undefined : Math.max(...times);
}

/** The schedule, read in its zone; undefined where it makes no sense. A zone that is not known counts for none. */
function scheduleOf({ cronJob: { spec }, localZone }: Observed): Schedule | undefined {
  const zone = spec.timeZone == null ? localZone : (attempt(() => timeZone(spec.timeZone!)) ?? localZone);
  return attempt(() => parseSchedule(spec.schedule, zone));
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

/** The last time that something is due for and was not started; undefined if there is none, or it is too late. */
function dueSince(
  schedule: Schedule,
  { metadata, spec }: AdvancedCronJob,
  lastAt: Instant | undefined,
  now: Instant,
): Instant | undefined {
  const { startingDeadlineSeconds } = spec;
  const since = lastAt ?? parseTime(metadata.creationTimestamp ?? formatTime(now));
  const earliest =
    startingDeadlineSeconds === undefined ? since : Math.max(since, now - Number(startingDeadlineSeconds) * 1000);
  return missedRuns(schedule, earliest, now)?.last;
}

function start({ cronJob, localZone }: Observed, active: readonly Child[], dueAt: Instant): readonly Action[] {
  const replaced = cronJob.spec.concurrencyPolicy === 'Replace' ? active.map(deletion) : [];
  return [...replaced, create(childOf(cronJob, dueAt, localZone))];
}

function deletion(child: Child): RemoveAction {
  return { ...remove(child), options: { propagationPolicy: 'Background' } };
}
