/**
 * Ownership after a write. An update takes the fields that it changed from all other managers. An apply declares the
 * fields and values of its manager: fields that others own with different values are conflicts, and fields that the
 * manager applied before but not now are removed, unless others own them.
 */
import type { MergeType } from '@kruise/schema/merge-type';
import {
  difference,
  emptySet,
  type FieldSet,
  intersection,
  isEmpty,
  recursiveDifference,
  union,
} from '../field-set/field-set.ts';
import { isSame, type JsonObject } from '../json-value.ts';
import { type Comparison, compare, isUnchanged, withoutFields } from './compare.ts';
import { fieldSetOfValue } from './field-set-of-value.ts';
import type { Manager, Managers } from './managers.ts';
import { merge } from './merge.ts';
import { removeItems } from './remove-items.ts';
import { reconcile, withNamedFields } from './schema-of-set.ts';

/** An object in a version of the API, and the merge type of that version. */
export type Versioned = { readonly object: JsonObject; readonly type: MergeType };

/** Properties of a kind at the endpoint of a request. */
export type TrackedKind = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly type: MergeType;
  /** Empty object of the kind in canonical form: some fields of Go structs are always present. */
  readonly empty: JsonObject;
  /** Fields that requests to this endpoint cannot set and therefore do not own, by version. */
  readonly resetFields?: { readonly [apiVersion: string]: FieldSet };
  /**
   * Converts an object to another version; `undefined` if the version does not exist. Omitted for kinds with one
   * version, where fields of managers in other versions are dropped.
   */
  readonly convert?: (object: JsonObject, apiVersion: string) => Versioned | undefined;
};

function versionOf(kind: TrackedKind, object: JsonObject, apiVersion: string): Versioned | undefined {
  if (apiVersion === kind.apiVersion && (object['apiVersion'] ?? apiVersion) === apiVersion) {
    return { object, type: kind.type };
  }
  return kind.convert?.(object, apiVersion);
}

/** Managers under construction. */
type Draft = Map<string, Manager>;

function reconcileManagers(kind: TrackedKind, live: JsonObject, managers: Managers): Draft {
  const draft: Draft = new Map();
  for (const [identity, manager] of managers) {
    const versioned = versionOf(kind, live, manager.apiVersion);
    if (!versioned) continue;
    const fields = reconcile(manager.fields, versioned.type);
    draft.set(identity, fields === manager.fields ? manager : { ...manager, fields });
  }
  return draft;
}

type Change = { readonly before: JsonObject; readonly after: JsonObject };

/** Compares objects in each version on first use. */
function comparer(kind: TrackedKind, { before, after }: Change): (apiVersion: string) => Comparison | undefined {
  const found = new Map<string, Comparison | undefined>();
  const compareAt = (apiVersion: string) => {
    const [old, now] = [versionOf(kind, before, apiVersion), versionOf(kind, after, apiVersion)];
    return old && now && withoutFields(compare(old.object, now.object, old.type), kind.resetFields?.[apiVersion]);
  };
  return (apiVersion) => {
    if (!found.has(apiVersion)) found.set(apiVersion, compareAt(apiVersion));
    return found.get(apiVersion);
  };
}

/** Fields of other managers that the change sets to another value. */
export type OwnedByOthers = readonly {
  readonly identity: string;
  readonly manager: Manager;
  readonly fields: FieldSet;
}[];

function ownedByOthers(
  managers: Managers,
  self: string | undefined,
  comparisonAt: (apiVersion: string) => Comparison | undefined,
): OwnedByOthers {
  const owned: { identity: string; manager: Manager; fields: FieldSet }[] = [];
  for (const [identity, manager] of managers) {
    const comparison = identity === self ? undefined : comparisonAt(manager.apiVersion);
    if (!comparison || isUnchanged(comparison)) continue;
    const fields = intersection(manager.fields, union(comparison.modified, comparison.added));
    if (!isEmpty(fields)) owned.push({ identity, manager, fields });
  }
  return owned;
}

/** Removes the changed and removed fields from all other managers. */
function removeFromOthers(
  draft: Draft,
  self: string | undefined,
  comparisonAt: (apiVersion: string) => Comparison | undefined,
): void {
  for (const [identity, manager] of draft) {
    const comparison = identity === self ? undefined : comparisonAt(manager.apiVersion);
    if (identity !== self && !comparison) {
      draft.delete(identity);
    } else {
      const fields = comparison ? without(manager.fields, comparison) : manager.fields;
      if (isEmpty(fields)) draft.delete(identity);
      else if (fields !== manager.fields) draft.set(identity, { ...manager, fields });
    }
  }
}

function without(fields: FieldSet, { added, modified, removed }: Comparison): FieldSet {
  return difference(difference(difference(fields, added), modified), removed);
}

/** Returns the managers after an update, and the changes: the manager of the update owns added and modified fields. */
export function updateManagers(
  kind: TrackedKind,
  change: Change,
  managers: Managers,
): { readonly managers: Draft; readonly comparison: Comparison } {
  const draft = reconcileManagers(kind, change.before, managers);
  const comparisonAt = comparer(kind, change);
  removeFromOthers(draft, undefined, comparisonAt);
  return { managers: draft, comparison: comparisonAt(kind.apiVersion)! };
}

/** An apply, with objects without managedFields. */
export type ApplyRequest = {
  readonly live: JsonObject;
  readonly applied: JsonObject;
  readonly managers: Managers;
  /** The applying manager; its `fields` are computed. */
  readonly self: Manager;
  readonly identity: string;
  readonly force: boolean;
};

/** Object and managers after an apply, or its conflicts. */
export type Applied =
  | { readonly object: JsonObject; readonly isChanged: boolean; readonly managers: Draft }
  | { readonly conflicts: OwnedByOthers };

/**
 * Merges the applied object into the live one and computes the managers, or returns the conflicts.
 *
 * ```ts
 * const applied = applyObject(tracked, applyRequest);
 * ```
 */
export function applyObject(kind: TrackedKind, request: ApplyRequest): Applied {
  const { live, applied, self, identity, force } = request;
  const draft = reconcileManagers(kind, live, request.managers);
  const merged = merge(live, applied, kind.type);
  const last = draft.get(identity);
  const wanted = recursiveDifference(
    fieldSetOfValue(applied, kind.type),
    kind.resetFields?.[kind.apiVersion] ?? emptySet,
  );
  draft.set(identity, { ...self, time: last?.time, fields: wanted });
  const object = last ? prune(kind, merged, draft, { last, wanted }) : merged;
  const comparisonAt = comparer(kind, { before: live, after: object });
  if (!force) {
    const conflicts = ownedByOthers(draft, identity, comparisonAt);
    if (conflicts.length > 0) return { conflicts };
  }
  removeFromOthers(draft, identity, comparisonAt);
  return { object, isChanged: !isSame(live, object), managers: draft };
}

/** Removes the fields that the manager owned before and no manager applies now. */
function prune(
  kind: TrackedKind,
  merged: JsonObject,
  managers: Managers,
  { last, wanted }: { readonly last: Manager; readonly wanted: FieldSet },
): JsonObject {
  if (last.apiVersion === kind.apiVersion && isEmpty(difference(last.fields, wanted))) return merged;
  const versioned = versionOf(kind, merged, last.apiVersion);
  if (!versioned) return merged;
  const { object, type } = versioned;
  const lastFieldsWithParents = withNamedFields(last.fields, type);
  const withoutLast = removeItems(object, lastFieldsWithParents, type);
  const owned = addBackOwned(kind, { merged: object, pruned: withoutLast, apiVersion: last.apiVersion }, managers);
  const inLastVersion = versionOf(kind, owned, last.apiVersion);
  const pruned = inLastVersion ? removeOwned(object, inLastVersion.object, type, lastFieldsWithParents) : object;
  return versionOf(kind, pruned, kind.apiVersion)?.object ?? merged;
}

/** Restores removed fields that some manager owns, including the applying manager. */
function addBackOwned(
  kind: TrackedKind,
  {
    merged,
    pruned,
    apiVersion,
  }: { readonly merged: JsonObject; readonly pruned: JsonObject; readonly apiVersion: string },
  managers: Managers,
): JsonObject {
  const owned = new Map<string, FieldSet>([[apiVersion, emptySet]]);
  for (const each of managers.values()) {
    owned.set(each.apiVersion, union(owned.get(each.apiVersion) ?? emptySet, each.fields));
  }
  let result = pruned;
  for (const [version, fields] of owned) {
    const whole = versionOf(kind, merged, version);
    const rest = versionOf(kind, result, version);
    if (!whole || !rest) continue;
    const { object, type } = whole;
    const kept = union(withNamedFields(fieldSetOfValue(rest.object, type), type), withNamedFields(fields, type));
    result = removeItems(object, difference(withNamedFields(fieldSetOfValue(object, type), type), kept), type);
  }
  return result;
}

/**
 * Removes only fields that the manager owned; other fields that were removed with them, such as the rest of an item,
 * are restored.
 */
function removeOwned(merged: JsonObject, pruned: JsonObject, type: MergeType, last: FieldSet): JsonObject {
  const [whole, rest] = [merged, pruned].map((each) => withNamedFields(fieldSetOfValue(each, type), type));
  return removeItems(merged, intersection(difference(whole!, rest!), last), type);
}
