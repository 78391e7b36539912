import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { defaultClass } from '@kruise/machinery/default-class';
import { derived, type Objects } from '../lookup.ts';

/** Returns the name of the class that an annotation marks as default. */
export function defaultClassOf<T extends { readonly metadata: ObjectMeta }>(
  classes: Objects<T>,
  annotations: readonly string[],
): () => string | undefined {
  return derived(classes, (all) => defaultClass(all, annotations)?.metadata.name);
}
