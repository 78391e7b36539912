import * as s from '@kruise/schema';

const lifecycleHook = s.object({
  labelsHandler: s.optional(
    s.map(s.string()),
    'Labels of the hook. A Pod about to be deleted or updated waits while it carries any of them; a new or just ' +
      'updated Pod waits until it carries all.',
  ),
  finalizersHandler: s.optional(
    s.list(s.string()),
    'Finalizers of the hook, which count as its labels do; one on the Pod keeps it from vanishing in any case.',
  ),
  markPodNotReady: s.optional(
    s.boolean(),
    'Make the Pod not ready while it waits in the hook. Default false; of no effect on preNormal.',
  ),
});
export type LifecycleHook = s.TypeOf<typeof lifecycleHook>;

/** Lifecycle hooks, at which a Pod waits for another controller. */
export const lifecycle = s.object({
  preDelete: s.pointer(
    lifecycleHook,
    'Before a Pod is deleted: it waits in state PreparingDelete until it carries nothing of the hook.',
  ),
  inPlaceUpdate: s.pointer(
    lifecycleHook,
    'Around an update in place: a Pod waits before it until it carries nothing of the hook, after it until it carries all.',
  ),
  preNormal: s.pointer(
    lifecycleHook,
    'Before a new Pod counts as available: it waits in state PreparingNormal until it carries all of the hook.',
  ),
});
export type Lifecycle = s.TypeOf<typeof lifecycle>;
