/**
 * Which runs a schedule has missed. A schedule may be due every minute and nobody have looked for a year, so runs are
 * not gone through one by one: how many there were is estimated from the first two, and the last is looked for from the
 * present backwards.
 */
import { nextRun, type Schedule } from '@kruise/machinery/cron';
import type { Instant } from '@kruise/values/time';

/** What a schedule was due for since an instant. */
export type MissedRuns = {
  /** The last run that is due; none if there is none yet. */
  readonly last: Instant | undefined;
  /** About how many there were: exact where all are equally far apart. */
  readonly count: number;
};

/** The runs due after an instant, up to now; undefined if the schedule has none at all, as one for 31 February. */
export function missedRuns(schedule: Schedule, since: Instant, now: Instant): MissedRuns | undefined {
  const first = nextRun(schedule, since);
  const second = first === undefined ? undefined : nextRun(schedule, first);
  if (first === undefined || second === undefined) return undefined;
  if (now < first) return { last: undefined, count: 0 };
  if (now < second) return { last: first, count: 1 };
  const interval = second - first;
  const count = Math.floor((now - first) / interval) + 1;
  if (schedule.kind === 'interval') return { last: first + (count - 1) * interval, count };
  // Two intervals back there is a run as a rule; where runs are not equally far apart, it may be further.
  for (let distance = 2 * interval; ; distance *= 2) {
    const last = lastRun(schedule, Math.max(since, now - distance), now);
    if (last !== undefined) return { last, count };
  }
}

/** The last of the runs after an instant, up to another. */
function lastRun(schedule: Schedule, after: Instant, until: Instant): Instant | undefined {
  let last: Instant | undefined;
  let next = nextRun(schedule, after);
  while (next !== undefined && next <= until) {
    last = next;
    next = nextRun(schedule, next);
  }
  return last;
}
