/**
 * Three-way merge of `kubectl apply` for kinds without strategic merge: custom resources, whose lists are replaced as a
 * whole.
 */
import { isObject, isSame, type JsonObject, own, put } from './json-value.ts';
import { type Precondition, requirePreconditions } from './merge-precondition.ts';

/**
 * Returns the merge patch (RFC 7396) that brings `current` to `modified`, deletes fields that only `original` has, and
 * leaves fields of others alone.
 */
export function createThreeWayJsonMergePatch(
  states: { readonly original: JsonObject; readonly modified: JsonObject; readonly current: JsonObject },
  { preconditions = [] }: { readonly preconditions?: readonly Precondition[] } = {},
): JsonObject {
  const { original, modified, current } = states;
  const patch = combine(deletionsOf(original, modified), additionsOf(current, modified));
  requirePreconditions(patch, preconditions);
  return patch;
}

/** Returns the fields of `after` that are missing or different in `before`. */
function additionsOf(before: JsonObject, after: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(after)) {
    const [old, value] = [own(before, name), after[name]];
    if (isSame(old, value) || value === null) continue;
    const isInner = isObject(old) && isObject(value);
    const added = isInner ? additionsOf(old, value) : withoutNulls(value);
    if (!isInner || Object.keys(added as JsonObject).length > 0) put(patch, name, added);
  }
  return patch;
}

/** A null in a merge patch deletes, so values must not contain nulls. */
function withoutNulls(value: unknown): unknown {
  if (!isObject(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = withoutNulls(value[name]);
    const isEmptied = isObject(member) && !hasFields(member) && hasFields(value[name] as JsonObject);
    if (member !== null && !isEmptied) put(kept, name, member);
  }
  return kept;
}

function hasFields(object: JsonObject): boolean {
  return Object.keys(object).length > 0;
}

/** Returns a null for each field of `before` that is missing or null in `after`. */
function deletionsOf(before: JsonObject, after: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(after)) {
    const [old, value] = [own(before, name), after[name]];
    const deleted = value === null && old !== null ? null : isObject(value) ? nullsOf(old, value) : undefined;
    if (deleted !== undefined) put(patch, name, deleted);
  }
  for (const name of Object.keys(before)) {
    if (!Object.hasOwn(after, name)) put(patch, name, null);
  }
  return patch;
}

function nullsOf(old: unknown, value: JsonObject): JsonObject | undefined {
  const deleted = deletionsOf(isObject(old) ? old : {}, value);
  return hasFields(deleted) ? deleted : undefined;
}

function combine(deletions: JsonObject, additions: JsonObject): JsonObject {
  const patch: Record<string, unknown> = { ...deletions };
  for (const name of Object.keys(additions)) {
    const [deleted, added] = [own(deletions, name), additions[name]];
    put(patch, name, isObject(deleted) && isObject(added) ? combine(deleted, added) : added);
  }
  return patch;
}
