import * as s from '@kruise/schema';

const lifecycleHook = s.object({
  labelsHandler: s.optional(
    s.map(s.string()),
    'Labels of the hook. A Pod about to be deleted or updated waits while it carries any of them; a new or just ' +
      'updated Pod waits until it carries all.',
  ),
  finalizersHandler: s.optional(
    s.list(s.string()),
    'Finalizers of the hook, evaluated like its labels; each of them also blocks the deletion of the Pod.',
  ),
  markPodNotReady: s.optional(
    s.boolean(),
    'Marks the Pod as not ready while it waits in the hook. Default false; has no effect on preNormal.',
  ),
});
export type LifecycleHook = s.TypeOf<typeof lifecycleHook>;

/** Lifecycle hooks, at which a Pod waits for another controller. */
export const lifecycle = s.object({
  preDelete: s.pointer(
    lifecycleHook,
    'Hook before the deletion of a Pod: the Pod stays in the state PreparingDelete until the labels and finalizers of the hook are removed.',
  ),
  inPlaceUpdate: s.pointer(
    lifecycleHook,
    'Hook of an in-place update: the update waits until the labels and finalizers of the hook are removed, and completes when all of them are set again.',
  ),
  preNormal: s.pointer(
    lifecycleHook,
    'Hook of a newly created Pod: the Pod stays in the state PreparingNormal, and is not available, until it has all labels and finalizers of the hook.',
  ),
});
export type Lifecycle = s.TypeOf<typeof lifecycle>;
