import { type PathElement, printPathElement } from './path-element.ts';

/** A path from the root of an object to one of its fields. */
export type FieldPath = readonly PathElement[];

/** A path as messages print it: `.spec.template.spec.containers[name="nginx"].image`. */
export function printFieldPath(path: FieldPath): string {
  return path.map(printPathElement).join('');
}

/** The path through these fields. */
export function fieldPath(...names: readonly string[]): FieldPath {
  return names.map((name) => `f:${name}`);
}
