/** JSON Merge Patch (RFC 7386): a patch looks like the document, null removes, and anything but an object replaces. */
import { ParseError } from '@kruise/values/parse-error';
import { CopyOnWrite } from './copy-on-write.ts';
import { isObject, isSame, type JsonObject, own, put } from './json-value.ts';

/** Takes a JSON value for a merge patch of an object. Throws `ParseError` if it is none. */
export function asMergePatch(value: unknown): JsonObject | readonly unknown[] {
  if (typeof value !== 'object' || value === null) throw new ParseError('Invalid JSON Patch');
  // Neither null nor a scalar, so an object or a list.
  return value as JsonObject | readonly unknown[];
}

/**
 * Applies a patch. The result shares with the document what the patch leaves alone, and is the document itself if that
 * is all of it. As in the reference, and against the RFC, nulls are also dropped from objects inside new lists.
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

/** The patch that turns one object into another. Empty if they are the same. */
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
