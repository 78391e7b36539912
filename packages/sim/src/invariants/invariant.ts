import type { Machines } from '../nodes.ts';
import type { View } from '../view.ts';

/** What must hold at every step of a world, whatever crashes or lags. */
export type Invariant = {
  readonly name: string;
  /** Looks at one world from its beginning; what it remembers is its own. */
  begin(world: { readonly machines: Machines }): (view: View) => string | undefined;
};

/** An invariant that remembers nothing. */
export function invariant(name: string, check: (view: View) => string | undefined): Invariant {
  return { name, begin: () => check };
}
