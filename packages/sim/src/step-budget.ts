/**
 * Budgets of a simulation, so that an endless simulation is reported and does not hang. Virtual time cannot be the only
 * limit: a loop that never waits keeps time from advancing.
 */
import type { Store } from '@kruise/apiserver/store/store';
import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { Settle } from '@kruise/values/virtual-clock';

/** A simulation takes some hundred thousand steps, and a few thousand of them at one instant under load. */
const maxSteps = 5_000_000;
const maxStepsPerInstant = 200_000;
/**
 * The API server retries a write after a conflict. Many writers at one instant make some hundreds of attempts together.
 */
const maxWritesPerInstant = 20_000;
/**
 * A loop of promises that waits for nothing never ends a step, so steps do not count it. Whatever controllers do reads
 * the clock, at least in their work queues.
 */
const maxClockReadsPerInstant = 1_000_000;

/** Thrown for an endless simulation: time does not advance, or the awaited state is never reached. */
export class EndlessSimulationError extends Error {
  override readonly name = 'EndlessWorldError';
}

export type Budget = {
  /** Settles, and throws once the simulation has taken more steps than any correct one takes. */
  readonly settle: Settle;
  /** Limits the writes to a store at one instant: a loop of writes never settles. */
  limit(store: Store): Store;
  /** Limits the reads of a clock by processes at one instant: a loop of promises never settles either. */
  limitReads(clock: Clock): Clock;
};

/** Creates the budget of one simulation. */
export function createBudget(settle: Settle, now: () => Instant): Budget {
  let exceeded: EndlessSimulationError | undefined;
  const exceed = (message: string) => (exceeded ??= new EndlessSimulationError(message));
  const countNow = countPerInstant(now);
  let steps = 0;
  return {
    settle() {
      const stepsNow = countNow();
      if (stepsNow > maxStepsPerInstant) exceed(`${stepsNow} steps without an advance of time`);
      if (++steps > maxSteps) exceed(`${steps} steps without convergence`);
      if (exceeded) throw exceeded;
      return settle();
    },
    limit(store) {
      const attemptsNow = countPerInstant(now);
      return {
        ...store,
        write(request) {
          const attempts = attemptsNow();
          if (attempts > maxWritesPerInstant) {
            throw exceed(`${attempts} writes were attempted at one instant, the last to ${request.key}`);
          }
          return store.write(request);
        },
      };
    },
    limitReads(clock) {
      const readsNow = countPerInstant(now);
      const countRead = () => {
        const reads = readsNow();
        if (reads > maxClockReadsPerInstant) throw exceed(`the clock was read ${reads} times at one instant`);
      };
      return {
        now() {
          countRead();
          return clock.now();
        },
        elapsedMs() {
          countRead();
          return clock.elapsedMs();
        },
        setTimer: (delayMs, callback, signal) => clock.setTimer(delayMs, callback, signal),
      };
    },
  };
}

/** Counts the calls at one instant; restarts at one when time has advanced. */
function countPerInstant(now: () => Instant): () => number {
  let [count, last] = [0, Number.NaN];
  return () => {
    count = now() === last ? count + 1 : 1;
    last = now();
    return count;
  };
}
