/** Diff of two JSON values as a JSON patch, for the responses of mutating webhooks. */
import { isObject, isSame } from '@kruise/machinery/json-value';

/** One operation of a JSON patch. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * Returns the operations that turn one value into the other; an empty list if they are equal.
 *
 * ```ts
 * createJsonPatch({ a: 1 }, { a: 1, b: [2] }); // [{ op: 'add', path: '/b', value: [2] }]
 * ```
 */
export function createJsonPatch(from: unknown, to: unknown): readonly PatchOperation[] {
  return [...diffValues(from, to, '')];
}

function* diffValues(from: unknown, to: unknown, path: string): Generator<PatchOperation> {
  // Unchanged parts are the same object and need no comparison.
  if (from === to) return;
  if (isObject(from) && isObject(to)) {
    yield* diffFields(from, to, path);
  } else if (Array.isArray(from) && Array.isArray(to)) {
    yield* diffItems(from, to, path);
  } else if (!isSame(from, to)) {
    yield { op: 'replace', path, value: to };
  }
}

type Fields = { readonly [name: string]: unknown };

function* diffFields(from: Fields, to: Fields, path: string): Generator<PatchOperation> {
  const has = (object: Fields, name: string) => Object.hasOwn(object, name) && object[name] !== undefined;
  for (const name of Object.keys(from)) {
    if (has(from, name) && !has(to, name)) yield { op: 'remove', path: `${path}/${escapeToken(name)}` };
  }
  for (const [name, value] of Object.entries(to)) {
    if (value === undefined) continue;
    const place = `${path}/${escapeToken(name)}`;
    if (has(from, name)) yield* diffValues(from[name], value, place);
    else yield { op: 'add', path: place, value };
  }
}

/** Compares items from both ends, so that one insertion or removal in a long list is one operation. */
function* diffItems(from: readonly unknown[], to: readonly unknown[], path: string): Generator<PatchOperation> {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && isSame(from[start], to[start])) start++;
  let end = 0;
  while (end < shorter - start && isSame(from.at(-1 - end), to.at(-1 - end))) end++;
  const fromEnd = from.length - end;
  const toEnd = to.length - end;
  const common = Math.min(fromEnd, toEnd);
  for (let index = start; index < common; index++) yield* diffValues(from[index], to[index], `${path}/${index}`);
  // Removes from the last to the first, because a removal shifts the items after it.
  for (let index = fromEnd - 1; index >= common; index--) yield { op: 'remove', path: `${path}/${index}` };
  for (let index = common; index < toEnd; index++) yield { op: 'add', path: `${path}/${index}`, value: to[index] };
}

function escapeToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
