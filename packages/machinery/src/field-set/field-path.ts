import { type PathElement, printPathElement } from './path-element.ts';

/** A path from the root of an object to a field. */
export type FieldPath = readonly PathElement[];

/** Formats a path for messages: `.spec.template.spec.containers[name="nginx"].image`. */
export function printFieldPath(path: FieldPath): string {
  return path.map(printPathElement).join('');
}

/**
 * Returns the path through these fields.
 *
 * ```ts
 * printFieldPath(fieldPath('spec', 'replicas')); // .spec.replicas
 * ```
 */
export function fieldPath(...names: readonly string[]): FieldPath {
  return names.map((name) => `f:${name}`);
}
