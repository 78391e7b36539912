import type { Step } from '@kruise/client/actions';

/** Result of `deriveState`: the state of one reconcile, and the writes that precede all others. */
export type DerivedState<S> = {
  readonly state: S;
  /** Adopts and releases dependents, and writes revisions. */
  readonly upkeep: readonly Step[];
  /** Number of hash collisions of revision names, for the status. */
  readonly collisionCount: number | undefined;
};
