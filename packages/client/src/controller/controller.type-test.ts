/** The static types of a controller: its kind and `observe` determine the types of everything else. */
import type { Namespace } from '@kruise/api/core/namespace';
import { namespace } from '@kruise/api/core/namespace';
import { type Pod, pod } from '@kruise/api/core/pod';
import type { Kind } from '@kruise/schema/kind';
import type { Equal, Expect } from '@kruise/values/testing/types';
import type { Instant } from '@kruise/values/time';
import type { Change } from '../cache/informer.ts';
import { keyOf } from '../cache/object-key.ts';
import { patch } from './actions.ts';
import { type Controller, defineController, ownersOf, watch } from './controller.ts';

type Observed = { readonly found: Namespace; readonly pods: readonly Pod[] };

const observe = (found: Namespace | undefined): Observed | undefined => found && { found, pods: [] };

/** `decide` receives the result of `observe`, without `undefined`. */
export const labeller = defineController({
  for: namespace,
  owns: [pod],
  predicate: (change) => {
    type Test = Expect<Equal<typeof change, Change<Namespace>>>;
    return true satisfies Test;
  },
  observe: (caches, key) => observe(caches.of(namespace).get(key)),
  decide: (observed, now) => {
    type Test = [Expect<Equal<typeof observed, Observed>>, Expect<Equal<typeof now, Instant>>];
    const passed: Test = [true, true];
    return { actions: passed.length > 0 ? [patch(observed.found, {})] : [] };
  },
});

export type Tests = [Expect<Equal<typeof labeller, Controller>>];

/** A mapper receives changes of the watched kind; `keyOf` and `ownersOf` accept changes of every kind. */
export const watches = [
  watch(pod, ({ object }) => (object.spec?.nodeName ? [keyOf(object)] : [])),
  watch(pod, (change) => ownersOf(namespace, change)),
];

/** Mappers for a kind that is a type parameter need no cast. */
export function watchNames<K extends Kind>(kind: K) {
  return watch(kind, ({ object }) => [object.metadata.name ?? '']);
}

const ofText = (observed: string) => ({ actions: [], requeueAfterSeconds: observed.length });
const withText = () => ({ actions: [], status: 'Active' });

export const mistakes = [
  // @ts-expect-error: `decide` takes what `observe` returns.
  defineController({ for: namespace, observe: () => 3, decide: ofText }),
  // @ts-expect-error: the status is that of the kind.
  defineController({ for: namespace, observe: () => 3, decide: withText }),
  // @ts-expect-error: a decision has actions.
  defineController({ for: namespace, observe: () => 3, decide: () => ({}) }),
  // @ts-expect-error: a controller is for a kind.
  defineController({ observe: () => 3, decide: () => ({ actions: [] }) }),
  // @ts-expect-error: a Pod has no field `data`.
  watch(pod, ({ object }) => [object.data]),
];
