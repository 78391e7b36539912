/**
 * No object is written without end. A reconcile that fails must back off, and one that succeeds must have nothing left
 * to do: a loop between two controllers, or between one controller and a refusal, shows as a rate of writes that no
 * change of intent explains. `stillness.ts` judges writes in a stable world.
 */
import type { Invariant } from './invariant.ts';

const windowMs = 60_000;

/** Maximum durable writes to an object, and write requests of a process to a path, in a minute without new intent. */
const mostWrites = 60;
const mostRequests = 120;
/** Additional writes for every write of a user, which is a change of intent that controllers may follow up. */
const perIntent = 30;

/** Leases and Events are written by the clock and by chance, and nothing depends on them. */
export const unjudgedKeys = /^\/registry\/(?:leases|events)\//;
const unjudgedPaths = /\/(?:leases|events)(?:\/|$)|reviews$/;

/** Records when an event happened to a key, and counts the events of the last minute. */
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
  name: 'no object is written more than a bounded number of times a minute without a change of intent',
  begin({ onRequestOrDryRun, onWrite, now }) {
    let broken: string | undefined;
    const writes = minuteCounter();
    const requests = minuteCounter();
    const intents = minuteCounter();
    const allowance = () => perIntent * intents.count('', now());
    onRequestOrDryRun(({ user, request, process }) => {
      if (request.method === 'GET' || unjudgedPaths.test(request.path)) return undefined;
      if (user.username === 'user') {
        intents.add('', now());
        return undefined;
      }
      const count = requests.add(`${process} ${request.method} ${request.path}`, now());
      if (count > mostRequests && count > mostRequests + allowance()) {
        broken ??= `${process} sent ${count} ${request.method} ${request.path} within a minute`;
      }
      return undefined;
    });
    onWrite(({ key }) => {
      if (unjudgedKeys.test(key)) return;
      const count = writes.add(key, now());
      if (count > mostWrites && count > mostWrites + allowance()) {
        broken ??= `${key} was written ${count} times within a minute`;
      }
    });
    return () => broken;
  },
};
