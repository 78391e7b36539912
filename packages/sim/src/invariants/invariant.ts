import type { Instant } from '@kruise/values/time';
import type { Fault } from '../faults.ts';
import type { Machines } from '../nodes.ts';
import type { View } from '../view.ts';
import type { World } from '../world.ts';

/** The parts of a simulation that an invariant can observe. */
export type InvariantContext = Pick<World, 'onServerStart' | 'onWrite'> & {
  /** Reports every request except dry runs, which change nothing. */
  readonly onRequest: World['onRequest'];
  readonly onRequestOrDryRun: World['onRequest'];
  /** Returns the virtual time. */
  now(): Instant;
  readonly machines: Machines;
  /** Faults of the simulation. */
  readonly faults: readonly Fault[];
  /** Returns the current state of the cluster while the API server is up. */
  view(): View | undefined;
};

/** A condition that must hold at every step of a simulation, whatever crashes or lags. */
export type Invariant = {
  readonly name: string;
  /** Observes one simulation from its start; the state belongs to this observation. */
  observe(context: InvariantContext): (view: View) => string | undefined;
};

/** Creates an invariant without state. */
export function invariant(name: string, check: (view: View) => string | undefined): Invariant {
  return { name, observe: () => check };
}
