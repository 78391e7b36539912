/**
 * Who owns what after a write. An update takes the fields it changed from everybody else. An apply states which fields
 * its manager wants and with which values: what others own with other values are conflicts, and what the manager wanted
 * before and no longer does is removed, unless somebody else owns it.
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

/** An object in some version of the API, and how objects of that version merge. */
export type Versioned = { readonly object: JsonObject; readonly type: MergeType };

/** What there is to know of the kind of an object, at the endpoint a request came to. */
export type TrackedKind = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly type: MergeType;
  /** An object of the kind with nothing in it, in canonical form: Go's structures have some fields even so. */
  readonly empty: JsonObject;
  /** By version: the fields requests to this endpoint cannot set, which nobody gets to own through it. */
  readonly resetFields?: { readonly [apiVersion: string]: FieldSet };
  /**
   * An object in another version; `undefined` if there is no such version. A kind of one version needs none: whoever
   * owns fields in any other version then owns nothing.
   */
  readonly convert?: (object: JsonObject, apiVersion: string) => Versioned | undefined;
};

function versionOf(kind: TrackedKind, object: JsonObject, apiVersion: string): Versioned | undefined {
  if (apiVersion === kind.apiVersion && (object['apiVersion'] ?? apiVersion) === apiVersion) {
    return { object, type: kind.type };
  }
  return kind.convert?.(object, apiVersion);
}

/** Owners that may be changed. */
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

/** Compares objects in every version asked for, once. */
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

/** What others own and the change sets to another value. */
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

/** Takes from all others what the change set or removed. */
function takeFromOthers(
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

/** The owners after an update, and what changed: whoever made it now owns what came or has another value. */
export function updateManagers(
  kind: TrackedKind,
  change: Change,
  managers: Managers,
): { readonly managers: Draft; readonly comparison: Comparison } {
  const draft = reconcileManagers(kind, change.before, managers);
  const comparisonAt = comparer(kind, change);
  takeFromOthers(draft, undefined, comparisonAt);
  return { managers: draft, comparison: comparisonAt(kind.apiVersion)! };
}

/** An apply, of and on objects without managedFields. */
export type ApplyRequest = {
  readonly live: JsonObject;
  readonly applied: JsonObject;
  readonly managers: Managers;
  /** Who applies; `fields` are to be found. */
  readonly self: Manager;
  readonly identity: string;
  readonly force: boolean;
};

/** The object and its owners after an apply, or what stood in its way. */
export type Applied =
  | { readonly object: JsonObject; readonly isChanged: boolean; readonly managers: Draft }
  | { readonly conflicts: OwnedByOthers };

/** The live object with another laid over it, and the owners after that; or what stands in the way. */
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
  takeFromOthers(draft, identity, comparisonAt);
  return { object, isChanged: !isSame(live, object), managers: draft };
}

/** Without what the manager owned before and nobody wants any more. */
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
  const lastNamed = withNamedFields(last.fields, type);
  const withoutLast = removeItems(object, lastNamed, type);
  const owned = addBackOwned(kind, { merged: object, pruned: withoutLast, apiVersion: last.apiVersion }, managers);
  const inLastVersion = versionOf(kind, owned, last.apiVersion);
  const pruned = inLastVersion ? removeOwned(object, inLastVersion.object, type, lastNamed) : object;
  return versionOf(kind, pruned, kind.apiVersion)?.object ?? merged;
}

/** Puts back what was removed though somebody owns it, the applying manager included. */
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

/** Of what was removed, only what the manager owned stays so; what came along with it, as the rest of an item, is back. */
function removeOwned(merged: JsonObject, pruned: JsonObject, type: MergeType, last: FieldSet): JsonObject {
  const [whole, rest] = [merged, pruned].map((each) => withNamedFields(fieldSetOfValue(each, type), type));
  return removeItems(merged, intersection(difference(whole!, rest!), last), type);
}
