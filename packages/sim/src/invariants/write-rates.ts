/**
 * Write rates are bounded. A reconcile that fails must back off, and one that succeeds must have nothing left to do: a
 * loop between two controllers, or between a controller and a rejection, shows as a write rate that no change of intent
 * explains. `run.ts` checks the writes after convergence.
 */
import type { Invariant } from './invariant.ts';

const windowMs = 60_000;

/**
 * Maximum number of durable writes to an object, and of write requests of a process to a path, per minute without a
 * change of intent.
 */
const maxWrites = 60;
const maxRequests = 120;
/** Additional writes for each write of a user, which is a change of intent that controllers may follow up. */
const perIntent = 30;

/** Leases and Events are written periodically and at random, and nothing depends on them. */
export const ignoredKeys = /^\/registry\/(?:leases|events)\//;
const ignoredPaths = /\/(?:leases|events)(?:\/|$)|reviews$/;

/** Counts the events of each key in the last minute. */
function minuteCounter() {
  const times = new Map<string, readonly number[]>();
  const within = (key: string, now: number) => (times.get(key) ?? []).filter((time) => time > now - windowMs);
  return {
    add(key: string, now: number): number {
      const recent = [...within(key, now), now];
      times.set(key, recent);
      return recent.length;
    },
    count: (key: string, now: number) => within(key, now).length,
  };
}

export const writesAreBounded: Invariant = {
  name: 'the write rate of an object is bounded without a change of intent',
  observe({ onRequestOrDryRun, onWrite, now }) {
    let broken: string | undefined;
    const writes = minuteCounter();
    const requests = minuteCounter();
    const intents = minuteCounter();
    const allowance = () => perIntent * intents.count('', now());
    onRequestOrDryRun(({ user, request, process }) => {
      if (request.method === 'GET' || ignoredPaths.test(request.path)) return undefined;
      if (user.username === 'user') {
        intents.add('', now());
        return undefined;
      }
      const count = requests.add(`${process} ${request.method} ${request.path}`, now());
      if (count > maxRequests && count > maxRequests + allowance()) {
        broken ??= `${process} sent ${count} ${request.method} ${request.path} within a minute`;
      }
      return undefined;
    });
    onWrite(({ key }) => {
      if (ignoredKeys.test(key)) return;
      const count = writes.add(key, now());
      if (count > maxWrites && count > maxWrites + allowance()) {
        broken ??= `${key} was written ${count} times within a minute`;
      }
    });
    return () => broken;
  },
};
