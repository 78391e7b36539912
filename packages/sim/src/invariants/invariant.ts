import type { Instant } from '@kruise/values/time';
import type { Fault } from '../faults.ts';
import type { Machines } from '../nodes.ts';
import type { View } from '../view.ts';
import type { World } from '../world.ts';

/** What an invariant can see of a world. */
export type Scene = Pick<World, 'onServerStart' | 'onWrite'> & {
  /** Reports every request but dry runs, which change nothing. */
  readonly onRequest: World['onRequest'];
  readonly onRequestOrDryRun: World['onRequest'];
  /** The world's time. */
  now(): Instant;
  readonly machines: Machines;
  /** What goes wrong in it. */
  readonly faults: readonly Fault[];
  /** The cluster as it is now, while there is a server. */
  view(): View | undefined;
};

/** What must hold at every step of a world, whatever crashes or lags. */
export type Invariant = {
  readonly name: string;
  /** Looks at one world from its beginning; what it remembers is its own. */
  begin(scene: Scene): (view: View) => string | undefined;
};

/** An invariant that remembers nothing. */
export function invariant(name: string, check: (view: View) => string | undefined): Invariant {
  return { name, begin: () => check };
}
