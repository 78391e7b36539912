import type { Action } from '@kruise/client/actions';
import type { Situation } from './situation.ts';

export type Updating = { readonly actions: readonly Action[]; readonly requeueAfterSeconds?: number };

export function update(_situation: Situation): Updating {
  return { actions: [] };
}
