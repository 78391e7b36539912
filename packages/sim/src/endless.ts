/**
 * Budgets of a world, so that an endless world is reported and does not hang. Virtual time cannot be the only limit: a
 * loop that waits for nothing keeps time from passing.
 */
import type { Store } from '@kruise/apiserver/store/store';
import type { Instant } from '@kruise/values/time';
import type { Settle } from '@kruise/values/virtual-clock';

/** A world takes some hundred thousand steps, and a few thousand of them at one instant when much happens at once. */
const mostSteps = 5_000_000;
const mostStepsAtOnce = 200_000;
/** A server retries a write after a conflict. Many writers at one instant make some hundreds of attempts together. */
const mostAttemptsAtOnce = 20_000;

/** An endless world: time does not pass any more, or the awaited state is never reached. */
export class EndlessWorldError extends Error {
  override readonly name = 'EndlessWorldError';
}

export type Budget = {
  /** Settles, and throws once the world has taken more steps than any correct world takes. */
  readonly settle: Settle;
  /** Limits the writes to a store at one instant: a loop of writes never settles. */
  limit(store: Store): Store;
};

/** Creates the budget of one world. */
export function createBudget(settle: Settle, now: () => Instant): Budget {
  let exceeded: EndlessWorldError | undefined;
  const exceed = (message: string) => (exceeded ??= new EndlessWorldError(message));
  const countNow = countAtOnce(now);
  let steps = 0;
  return {
    settle() {
      const stepsNow = countNow();
      if (stepsNow > mostStepsAtOnce) exceed(`${stepsNow} steps, and no time has passed`);
      if (++steps > mostSteps) exceed(`${steps} steps, and no end`);
      if (exceeded) throw exceeded;
      return settle();
    },
    limit(store) {
      const attemptsNow = countAtOnce(now);
      return {
        ...store,
        write(request) {
          const attempts = attemptsNow();
          if (attempts > mostAttemptsAtOnce) {
            throw exceed(`${attempts} writes were attempted at one instant, the last to ${request.key}`);
          }
          return store.write(request);
        },
      };
    },
  };
}

/** Counts calls; starts from one again when time has passed. */
function countAtOnce(now: () => Instant): () => number {
  let [count, last] = [0, Number.NaN];
  return () => {
    count = now() === last ? count + 1 : 1;
    last = now();
    return count;
  };
}
