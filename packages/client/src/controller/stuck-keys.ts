/** Stuck keys of a controller: keys that have been retried for long without success and need an operator. */
import type { Clock } from '@kruise/values/clock';
import type { Key } from '../cache/object-key.ts';

/** A key that has been retried for too long. */
export type StuckKey = {
  readonly key: Key;
  readonly retriedForSeconds: number;
  /** The last error, if there was one. */
  readonly message?: string;
};

/** Tracker of the keys of a controller that are being retried. */
export type StuckKeys = {
  /** Records a reconcile that will be retried. Returns the key the first time it counts as stuck. */
  retried(key: Key, error: unknown): StuckKey | undefined;
  /** Records a reconcile without a retry, or the deletion of the object. */
  recovered(key: Key): void;
  /** Returns the stuck keys, the longest stuck first. */
  list(): readonly StuckKey[];
};

/** The stuck keys of all controllers of a process. */
export type StuckKeyRegistry = {
  /** Adds a controller by the function that lists its stuck keys. */
  add(controller: string, list: () => readonly StuckKey[]): void;
  list(): readonly (StuckKey & { readonly controller: string })[];
};

/** Creates a registry without controllers. */
export function createStuckKeyRegistry(): StuckKeyRegistry {
  const controllers = new Map<string, () => readonly StuckKey[]>();
  return {
    add: (controller, list) => void controllers.set(controller, list),
    list: () => [...controllers].flatMap(([controller, list]) => list().map((key) => ({ controller, ...key }))),
  };
}

const stuckAfterMs = 10 * 60_000;

type Retries = { readonly since: number; readonly message?: string; readonly isReported: boolean };

/**
 * Creates an empty tracker.
 *
 * ```ts
 * const stuckKeys = createStuckKeys(clock);
 * const stuck = stuckKeys.retried('default/web', new Error('no quota'));
 * ```
 */
export function createStuckKeys(clock: Clock): StuckKeys {
  const retries = new Map<Key, Retries>();
  const stuckKeyOf = (key: Key, { since, message }: Retries): StuckKey => ({
    key,
    retriedForSeconds: Math.floor((clock.elapsedMs() - since) / 1000),
    ...(message === undefined ? {} : { message }),
  });
  const isStuck = ({ since }: Retries) => clock.elapsedMs() - since > stuckAfterMs;
  return {
    retried(key, error) {
      const { since = clock.elapsedMs(), message: last, isReported = false } = retries.get(key) ?? {};
      const message = error === undefined ? last : messageOf(error);
      const current = { since, ...(message === undefined ? {} : { message }) };
      const isNewlyStuck = !isReported && isStuck({ ...current, isReported });
      retries.set(key, { ...current, isReported: isReported || isNewlyStuck });
      return isNewlyStuck ? stuckKeyOf(key, { ...current, isReported }) : undefined;
    },
    recovered: (key) => void retries.delete(key),
    list: () => [...retries].filter(([, each]) => isStuck(each)).map(([key, each]) => stuckKeyOf(key, each)),
  };
}

/** Returns the message of an error; the first cause represents an aggregate error. */
function messageOf(error: unknown): string {
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return cause instanceof Error ? cause.message : String(cause);
}
