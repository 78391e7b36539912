/** AdvancedCronJob reconciler: creates jobs on a schedule. */
import type { AdvancedCronJob, AdvancedCronJobStatus } from '@kruise/api/kruise/advancedcronjob';
import {
  asOptional,
  create,
  isBeingDeleted,
  parallel,
  type RemoveAction,
  remove,
  type Step,
} from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { KubernetesObject } from '@kruise/client/object-key';
import { nextRun, parseSchedule, type Schedule } from '@kruise/machinery/cron';
import { type TimeZone, timeZone } from '@kruise/machinery/time-zone';
import { ParseError } from '@kruise/values/parse-error';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { missedRuns } from '@kruise/workload-kit/schedule/missed-runs';
import { childName, childOf, templateOf } from './child.ts';
import { type Child, outdated, referenceTo, scheduledAt, stateOf } from './children.ts';

export type Observed = {
  readonly cronJob: AdvancedCronJob;
  /** Children of the AdvancedCronJob. */
  readonly children: readonly Child[];
  /** Finds an object of the child's kind by name in the same namespace, whatever its owner. */
  readonly find: (name: string) => KubernetesObject | undefined;
  /** Time zone of schedules without a time zone. */
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
  // History that cannot be deleted must not block new jobs.
  const tidying = parallel(
    superfluous.filter((child) => !isBeingDeleted(child)).map((child) => asOptional(deletion(child))),
  );
  const idle = { actions: tidying, status };
  if (spec.paused || isBeingDeleted(cronJob)) return idle;
  const schedule = scheduleOf(observed);
  // An invalid schedule allows no action; a change of the spec enqueues the AdvancedCronJob.
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

/** Returns the last scheduled time of a started child, including children that are gone. */
function lastScheduledAt({ status }: AdvancedCronJob, children: readonly Child[]): Instant | undefined {
  const known = status?.lastScheduleTime == null ? [] : [parseTime(status.lastScheduleTime)];
  const times = [...known, ...children.map(scheduledAt).filter((time) => time !== undefined)];
  return times.length === 0 ? undefined : Math.max(...times);
}

/**
 * Parses the schedule in its time zone; undefined for an invalid schedule. An unknown time zone falls back to the local
 * one.
 */
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

/** Returns the last missed schedule time; undefined if there is none, or if the starting deadline has passed. */
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

function start({ cronJob, localZone }: Observed, active: readonly Child[], dueAt: Instant): readonly Step[] {
  const replaced = cronJob.spec.concurrencyPolicy === 'Replace' ? parallel(active.map(deletion)) : [];
  return [...replaced, create(childOf(cronJob, dueAt, localZone))];
}

function deletion(child: Child): RemoveAction {
  return { ...remove(child), options: { propagationPolicy: 'Background' } };
}
