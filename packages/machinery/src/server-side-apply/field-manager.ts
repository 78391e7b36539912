/**
 * Maintains `metadata.managedFields` for an API server: `trackUpdate` for every create, update and patch, and
 * `applyPatch` for server-side apply.
 */
import { formatTime, type Instant } from '@kruise/values/time';
import { fieldPath } from '../field-set/field-path.ts';
import { difference, emptySet, type FieldSet, fieldSetOf, hasPath, isEmpty, union } from '../field-set/field-set.ts';
import { isSame, type JsonObject, own } from '../json-value.ts';
import type { Comparison } from './compare.ts';
import { type Conflict, conflictsOf } from './conflict.ts';
import { fieldsOfLastApplied, kubectl, withLastApplied } from './last-applied.ts';
import { ListItemError } from './list-item.ts';
import { entriesOf, isReset, metadataOf, withEntries } from './managed-fields.ts';
import {
  areInOrder,
  capManagers,
  identityOf,
  ManagedFieldsError,
  type Manager,
  type Managers,
  noManagers,
  readManagers,
  writeManagers,
} from './managers.ts';
import { type Applied, type ApplyRequest, applyObject, type TrackedKind, updateManagers } from './updater.ts';
import { TypedValueError, validate } from './validate.ts';

/** Fields that are not tracked: they identify the object or belong to the server. */
const untracked = fieldSetOf(
  fieldPath('apiVersion'),
  fieldPath('kind'),
  fieldPath('metadata'),
  fieldPath('metadata', 'name'),
  fieldPath('metadata', 'namespace'),
  fieldPath('metadata', 'creationTimestamp'),
  fieldPath('metadata', 'selfLink'),
  fieldPath('metadata', 'uid'),
  fieldPath('metadata', 'clusterName'),
  fieldPath('metadata', 'generation'),
  fieldPath('metadata', 'managedFields'),
  fieldPath('metadata', 'resourceVersion'),
);

/** Manager of the fields that an object had before its managed fields were tracked. */
const beforeFirstApply = 'before-first-apply';

type Request = {
  /** Field manager of the request, from `managerOf`. */
  readonly manager: string;
  /** Subresource of the request; empty for the object itself. */
  readonly subresource?: string;
  readonly now: Instant;
};

/** A create, an update, or a patch except apply. */
export type UpdateRequest = Request & {
  /** Stored object; undefined for a create. */
  readonly live?: JsonObject | undefined;
  /** Object to be stored, with the managedFields of the client, if any. */
  readonly updated: JsonObject;
};

/**
 * Returns the object to be stored with updated managedFields. Tracking never fails a write: if tracking fails, the
 * object has no managedFields.
 *
 * ```ts
 * const stored = trackUpdate(tracked, { ...update, live, updated: { ...live, spec: { replicas: 3 } } });
 * ```
 */
export function trackUpdate(kind: TrackedKind, request: UpdateRequest): JsonObject {
  const { live = kind.empty, updated } = request;
  const managers = managersBefore(live, updated, request.subresource);
  // Objects that were not tracked from their creation are tracked from their first apply.
  if (managers.size === 0 && metadataOf(live)['uid']) return withEntries(updated, undefined);
  try {
    const change = { before: withEntries(live, undefined), after: withEntries(updated, undefined) };
    return withManagers(updated, managersAfter(kind, change, managers, request), live);
  } catch (error) {
    if (error instanceof ListItemError || error instanceof TypedValueError) return withEntries(updated, undefined);
    throw error;
  }
}

/**
 * A client may replace or reset the managedFields of the object itself. Invalid or missing entries keep the stored
 * ones, because most clients do not know managedFields and just drop them.
 */
function managersBefore(live: JsonObject, updated: JsonObject, subresource = ''): Managers {
  const stored = entriesOf(live);
  if (subresource === '') {
    const sent = entriesOf(updated);
    if (isReset(sent)) return noManagers;
    // Most clients send back what they received; comparing is cheaper than parsing.
    const managers = isSame(sent, stored) ? noManagers : readOrNone(sent);
    if (managers.size > 0) return managers;
  }
  return readOrNone(stored);
}

function readOrNone(entries: ReturnType<typeof entriesOf>): Managers {
  try {
    return readManagers(entries);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return noManagers;
    throw error;
  }
}

/** Keeps the entries of the stored object where they are equal, so that both versions share them. */
function withManagers(object: JsonObject, managers: Managers, live: JsonObject): JsonObject {
  const stored = entriesOf(live);
  const known = readOrNone(stored);
  const isStored = stored !== undefined && isSameManagers(known, managers) && areInOrder(known);
  return withEntries(object, isStored ? stored : writeManagers(managers));
}

function isSameManagers(a: Managers, b: Managers): boolean {
  if (a.size !== b.size) return false;
  for (const [identity, manager] of a) if (b.get(identity) !== manager) return false;
  return true;
}

function managersAfter(
  kind: TrackedKind,
  change: { readonly before: JsonObject; readonly after: JsonObject },
  before: Managers,
  { manager, subresource = '', now }: Request,
): Managers {
  const { managers, comparison } = updateManagers(kind, change, before);
  const fields = before.size === 0 ? initiallyOwnedFields(comparison) : takenBy(comparison);
  if (!isEmpty(fields)) {
    const self = selfOf({ manager, operation: 'Update', apiVersion: kind.apiVersion, subresource });
    const identity = identityOf(self);
    const owned = union(fields, managers.get(identity)?.fields ?? emptySet);
    managers.set(identity, { ...self, time: formatTime(now), fields: owned });
  }
  return capManagers(managers);
}

function takenBy({ added, modified }: Comparison): FieldSet {
  return difference(union(modified, added), untracked);
}

// Objects of one controller have the same fields and share their field set.
const initialOwnership = new WeakMap<FieldSet, { readonly modified: FieldSet; readonly taken: FieldSet }>();

/** Returns the fields that the first manager of an object owns. */
function initiallyOwnedFields(comparison: Comparison): FieldSet {
  const { added, modified } = comparison;
  const known = initialOwnership.get(added);
  if (known?.modified === modified) return known.taken;
  const taken = takenBy(comparison);
  initialOwnership.set(added, { modified, taken });
  return taken;
}

function selfOf(self: Omit<Manager, 'time' | 'fields'>): Manager {
  return { ...self, manager: self.manager || 'unknown', time: undefined, fields: emptySet };
}

/** A server-side apply. */
export type ApplyPatchRequest = Request & {
  /** Stored object; undefined if the apply creates it. */
  readonly live?: JsonObject | undefined;
  readonly applied: JsonObject;
  /** Takes the ownership of conflicting fields from other managers. */
  readonly force?: boolean;
};

/** The object to be stored (before defaulting), or the error. */
export type ApplyPatchResult =
  | { readonly object: JsonObject }
  | { readonly conflicts: readonly Conflict[] }
  | { readonly error: { readonly reason: 'BadRequest' | 'InternalError'; readonly message: string } };

/**
 * Server-side apply: sets the fields of the applied object and makes the manager their owner. Fields that the manager
 * applied before but not now are removed, unless others own them.
 */
export function applyPatch(kind: TrackedKind, request: ApplyPatchRequest): ApplyPatchResult {
  const { live = kind.empty, applied } = request;
  if (own(applied, 'apiVersion') !== kind.apiVersion || own(applied, 'kind') !== kind.kind) {
    return { error: { reason: 'BadRequest', message: `invalid object type: ${printKind(applied)}` } };
  }
  if (metadataOf(applied)['managedFields'] !== undefined && metadataOf(applied)['managedFields'] !== null) {
    return { error: { reason: 'BadRequest', message: 'metadata.managedFields must be nil' } };
  }
  try {
    validate(applied, kind.type);
  } catch (error) {
    if (!(error instanceof TypedValueError)) throw error;
    return internalError(`failed to create typed patch object (${printObject(applied)}): ${error.message}`);
  }
  try {
    return applyValid(kind, request, live);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return internalError(`failed to decode managed fields: ${error.message}`);
    if (!(error instanceof ListItemError) && !(error instanceof TypedValueError)) throw error;
    return internalError(`failed to create typed live object (${printObject(live)}): ${error.message}`);
  }
}

function internalError(message: string): ApplyPatchResult {
  return { error: { reason: 'InternalError', message } };
}

function applyValid(kind: TrackedKind, request: ApplyPatchRequest, live: JsonObject): ApplyPatchResult {
  const { applied, manager, subresource = '', force = false } = request;
  const self = selfOf({ manager, operation: 'Apply', apiVersion: kind.apiVersion, subresource });
  const bare = withEntries(live, undefined);
  const managers = managersBeforeApply(kind, live, bare, request);
  const attempt = { live: bare, applied, managers, self, identity: identityOf(self), force };
  const result = applyObject(kind, attempt);
  if (!('conflicts' in result)) return { object: finish(attempt, result, live, request) };

  const conflicts = conflictsOf(result.conflicts);
  if (manager !== kubectl) return { conflicts };
  const allowed = fieldsOfLastApplied(kind, bare);
  if (result.conflicts.some(({ fields }) => !isEmpty(difference(fields, allowed)))) {
    return { conflicts: conflicts.filter(({ path }) => !hasPath(allowed, path)) };
  }
  const forced = applyObject(kind, { ...attempt, force: true });
  return 'conflicts' in forced ? { conflicts } : { object: finish(attempt, forced, live, request) };
}

function managersBeforeApply(kind: TrackedKind, live: JsonObject, bare: JsonObject, request: Request): Managers {
  const managers = readManagers(entriesOf(live));
  if (managers.size > 0) return managers;
  return managersAfter(kind, { before: kind.empty, after: bare }, managers, { ...request, manager: beforeFirstApply });
}

function finish(
  { identity, applied }: ApplyRequest,
  { object, isChanged, managers }: Extract<Applied, { readonly object: JsonObject }>,
  live: JsonObject,
  { manager, now }: Request,
): JsonObject {
  const self = managers.get(identity);
  if (self) {
    const fields = difference(self.fields, untracked);
    if (isEmpty(fields)) managers.delete(identity);
    else managers.set(identity, { ...self, fields, time: isChanged ? formatTime(now) : self.time });
  }
  const tracked = withManagers(isChanged ? object : live, managers, live);
  return manager === kubectl ? withLastApplied(tracked, applied) : tracked;
}

/** Formats `ns/name; apps/v1, Kind=Deployment`. */
function printObject(object: JsonObject): string {
  const { namespace = '', name = '' } = metadataOf(object);
  return `${namespace}/${name}; ${printKind(object)}`;
}

/** Formats `apps/v1, Kind=Deployment`, or `/v1, Kind=Pod` for the core group. */
function printKind({ apiVersion, kind }: JsonObject): string {
  const version = typeof apiVersion === 'string' ? apiVersion : '';
  return `${version.includes('/') ? '' : '/'}${version}, Kind=${typeof kind === 'string' ? kind : ''}`;
}
