/**
 * JSON Merge Patch (RFC 7386): a patch has the shape of the document, null removes a field, and every other value
 * replaces it.
 */
import { ParseError } from '@kruise/values/parse-error';
import { CopyOnWrite } from './copy-on-write.ts';
import { isObject, isSame, type JsonObject, own, put } from './json-value.ts';

/** Validates that a JSON value is a merge patch of an object. Throws `ParseError` otherwise. */
export function asMergePatch(value: unknown): JsonObject | readonly unknown[] {
  if (typeof value !== 'object' || value === null) throw new ParseError('Invalid JSON Patch');
  // The value is neither null nor a scalar, so it is an object or a list.
  return value as JsonObject | readonly unknown[];
}

/**
 * Applies a merge patch. The result shares unchanged parts with the document, and is the document itself if nothing
 * changes. As in Kubernetes, and unlike the RFC, nulls are also removed from objects inside of new lists.
 *
 * ```ts
 * applyMergePatch({ a: 1, b: 2 }, { a: null, b: 3 }); // { b: 3 }
 * ```
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isObject(document)) return withoutNulls(patch);
  if (!isObject(patch)) return patch;
  const draft = new CopyOnWrite(document);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) {
      draft.delete(name);
      continue;
    }
    const current = draft.get(name);
    const merged = current === null || current === undefined ? withoutNulls(value) : applyMergePatch(current, value);
    if (!isSame(current, merged)) draft.set(name, merged);
  }
  return draft.done();
}

/** Returns the merge patch that turns one object into another; empty if they are equal. */
export function createMergePatch(original: JsonObject, modified: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(modified)) {
    const current = own(original, name);
    if (isObject(current) && isObject(value)) {
      const inner = createMergePatch(current, value);
      if (Object.keys(inner).length > 0) put(patch, name, inner);
    } else if (!isSame(current, value)) {
      put(patch, name, value);
    }
  }
  for (const name of Object.keys(original)) {
    if (!Object.hasOwn(modified, name)) put(patch, name, null);
  }
  return patch;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) {
    const pruned = value.map(withoutNulls);
    return pruned.every((item, index) => item === value[index]) ? value : pruned;
  }
  if (!isObject(value)) return value;
  const draft = new CopyOnWrite(value);
  for (const [name, member] of Object.entries(value)) {
    if (member === null) draft.delete(name);
    else draft.set(name, withoutNulls(member));
  }
  return draft.done();
}
