/**
 * Missed runs of a schedule. A schedule may run every minute and may not have been reconciled for a year, so runs are
 * not enumerated: their number is estimated from the first two runs, and the latest run is searched backwards from now.
 */
import { nextRun, type Schedule } from '@kruise/machinery/cron';
import type { Instant } from '@kruise/values/time';

/** Runs that were due since a point in time. */
export type MissedRuns = {
  /** The latest run that is due; undefined if no run is due yet. */
  readonly last: Instant | undefined;
  /** Estimated number of runs: exact if all intervals are equal. */
  readonly count: number;
};

/**
 * Returns the runs due after a point in time, up to now; undefined if the schedule never runs, for example on 31
 * February.
 */
export function missedRuns(schedule: Schedule, since: Instant, now: Instant): MissedRuns | undefined {
  const first = nextRun(schedule, since);
  const second = first === undefined ? undefined : nextRun(schedule, first);
  if (first === undefined || second === undefined) return undefined;
  if (now < first) return { last: undefined, count: 0 };
  if (now < second) return { last: first, count: 1 };
  const interval = second - first;
  const count = Math.floor((now - first) / interval) + 1;
  if (schedule.kind === 'interval') return { last: first + (count - 1) * interval, count };
  // Usually there is a run within the last two intervals; with unequal intervals the search goes further back.
  for (let distance = 2 * interval; ; distance *= 2) {
    const last = lastRun(schedule, Math.max(since, now - distance), now);
    if (last !== undefined) return { last, count };
  }
}

/** Returns the last run in the interval (after, until]. */
function lastRun(schedule: Schedule, after: Instant, until: Instant): Instant | undefined {
  let last: Instant | undefined;
  let next = nextRun(schedule, after);
  while (next !== undefined && next <= until) {
    last = next;
    next = nextRun(schedule, next);
  }
  return last;
}
