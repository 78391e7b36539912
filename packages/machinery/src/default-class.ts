import type { ObjectMeta } from '@kruise/api/meta/object-meta';

/** Annotations of the default StorageClass, for PVCs without a class. */
export const defaultStorageClassAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
] as const;

/**
 * Returns the default class by annotation: the newest, then the first by name.
 *
 * ```ts
 * const found = defaultClass(classes, ['storageclass.kubernetes.io/is-default-class']);
 * ```
 */
export function defaultClass<T extends { readonly metadata: ObjectMeta }>(
  classes: readonly T[],
  annotations: readonly string[],
): T | undefined {
  const marked = classes.filter(({ metadata }) => annotations.some((name) => metadata.annotations?.[name] === 'true'));
  return marked.toSorted(
    ({ metadata: one }, { metadata: other }) =>
      inOrder(other.creationTimestamp ?? '', one.creationTimestamp ?? '') || inOrder(one.name ?? '', other.name ?? ''),
  )[0];
}

function inOrder(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
