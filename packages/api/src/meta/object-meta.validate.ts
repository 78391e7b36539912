/**
 * Validation of object metadata. The server runs `validateObjectMeta` for objects of all kinds. Built-in kinds also run
 * `validateKindMeta`, with their own rule for names and stricter rules for finalizers.
 */
import { type Cause, forbidden, invalid, required, tooLong } from '@kruise/schema/field-error';
import { goStringList } from '@kruise/values/go-syntax';
import { validateDns1123Label, validateQualifiedName } from '@kruise/values/names';
import { invalidStructure, invalidTime } from './go-value.ts';
import { validateAnnotations, validateLabels } from './labels.validate.ts';
import { type NameRule, pathSegmentName } from './name-rules.ts';
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from './object-meta.ts';
import { isImmutable, nonNegative, orNull, refusals } from './value.validate.ts';

const orphanDependents = 'orphan';
const deleteDependents = 'foregroundDeletion';
const standardFinalizers = ['kubernetes', orphanDependents, deleteDependents];
const maxManagerLength = 128;
const maxSubresourceLength = 256;

export type MetaRules = { readonly namespaced: boolean; readonly name?: NameRule };

/** Validates the metadata of an object at its creation. */
export function* validateObjectMeta(metadata: ObjectMeta, rules: MetaRules, path = 'metadata'): Generator<Cause> {
  yield* validateNames(metadata, rules, path);
  yield* nonNegative(`${path}.generation`, metadata.generation);
  yield* validateLabels(metadata.labels, `${path}.labels`);
  yield* validateAnnotations(metadata.annotations, `${path}.annotations`);
  yield* validateOwnerReferences(metadata.ownerReferences, `${path}.ownerReferences`);
  yield* validateFinalizers(metadata.finalizers, `${path}.finalizers`);
  yield* validateManagedFields(metadata.managedFields, `${path}.managedFields`);
}

/** Validates the metadata of an object at an update. */
export function* validateObjectMetaUpdate(metadata: ObjectMeta, old: ObjectMeta, path = 'metadata'): Generator<Cause> {
  if (old.deletionTimestamp) yield* validateNoNewFinalizers(metadata, old, `${path}.finalizers`);
  if (!metadata.resourceVersion) {
    yield invalid(`${path}.resourceVersion`, metadata.resourceVersion ?? '', 'must be specified for an update');
  }
  if ((metadata.generation ?? 0) < (old.generation ?? 0)) {
    yield invalid(`${path}.generation`, metadata.generation ?? 0, 'must not be decremented');
  }
  for (const field of immutableFields) {
    const [now, before] = [metadata[field] ?? undefined, old[field] ?? undefined];
    if (now === before) continue;
    const isTime = typeof now === 'string' && field.endsWith('Timestamp');
    yield isTime
      ? invalidTime(`${path}.${field}`, now, isImmutable)
      : invalid(`${path}.${field}`, orNull(now), isImmutable);
  }
  yield* validateLabels(metadata.labels, `${path}.labels`);
  yield* validateAnnotations(metadata.annotations, `${path}.annotations`);
  yield* validateOwnerReferences(metadata.ownerReferences, `${path}.ownerReferences`);
  yield* validateManagedFields(metadata.managedFields, `${path}.managedFields`);
}

const immutableFields = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

/** Validates the metadata of a new object of a built-in kind. */
export function* validateKindMeta(metadata: ObjectMeta, rules: MetaRules): Generator<Cause> {
  yield* validateObjectMeta(metadata, rules);
  yield* validateKnownFinalizers(metadata);
}

/** Validates the metadata of an object of a built-in kind at an update. */
export function* validateKindMetaUpdate(metadata: ObjectMeta, old: ObjectMeta): Generator<Cause> {
  yield* validateObjectMetaUpdate(metadata, old);
  yield* validateKnownFinalizers(metadata);
}

function* validateNames(
  metadata: ObjectMeta,
  { namespaced, name: rule = pathSegmentName }: MetaRules,
  path: string,
): Generator<Cause> {
  const { generateName, name, namespace } = metadata;
  if (generateName) yield* refusals(`${path}.generateName`, generateName, rule.prefix(generateName));
  if (name) yield* refusals(`${path}.name`, name, rule.whole(name));
  else yield required(`${path}.name`, 'name or generateName is required');
  if (!namespaced) {
    if (namespace) yield forbidden(`${path}.namespace`, 'not allowed on this type');
  } else if (namespace) yield* refusals(`${path}.namespace`, namespace, validateDns1123Label(namespace));
  else yield required(`${path}.namespace`);
}

function* validateOwnerReferences(references: ObjectMeta['ownerReferences'], path: string): Generator<Cause> {
  let controller: string | undefined;
  for (const reference of references ?? []) {
    yield* validateOwnerReference(reference, path);
    if (!reference.controller) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (controller === undefined) controller = name;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      yield invalidStructure(path, 'v1.OwnerReference', references, detail);
    }
  }
}

function* validateOwnerReference(reference: OwnerReference, path: string): Generator<Cause> {
  const { apiVersion, kind, name, uid } = reference;
  const parts = apiVersion.split('/');
  // An apiVersion with more than two parts has no version, so it parses as empty.
  const version = parts.length > 2 ? '' : parts.at(-1);
  if (!version) yield invalid(`${path}.apiVersion`, apiVersion, 'version must not be empty');
  if (!kind) yield invalid(`${path}.kind`, kind, 'kind must not be empty');
  if (!name) yield invalid(`${path}.name`, name, 'name must not be empty');
  if (!uid) yield invalid(`${path}.uid`, uid, 'uid must not be empty');
  if (apiVersion === 'v1' && kind === 'Event') {
    yield invalidStructure(path, 'v1.OwnerReference', reference, '/v1, Kind=Event is disallowed from being an owner');
  }
}

function* validateFinalizers(finalizers: ObjectMeta['finalizers'], path: string): Generator<Cause> {
  for (const finalizer of finalizers ?? []) yield* refusals(path, finalizer, validateQualifiedName(finalizer));
  if (finalizers?.includes(orphanDependents) && finalizers.includes(deleteDependents)) {
    yield invalid(path, finalizers, `finalizer ${orphanDependents} and ${deleteDependents} cannot be both set`);
  }
}

function* validateKnownFinalizers({ finalizers = [] }: ObjectMeta): Generator<Cause> {
  for (const [index, finalizer] of finalizers.entries()) {
    if (finalizer.includes('/') || standardFinalizers.includes(finalizer)) continue;
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    yield invalid(`metadata.finalizers[${index}]`, finalizer, detail);
  }
}

function* validateNoNewFinalizers(metadata: ObjectMeta, old: ObjectMeta, path: string): Generator<Cause> {
  const before = new Set(old.finalizers);
  const added = [...new Set(metadata.finalizers)].filter((finalizer) => !before.has(finalizer)).sort();
  if (added.length === 0) return;
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${goStringList(added)}`;
  yield forbidden(path, detail);
}

function* validateManagedFields(entries: readonly ManagedFieldsEntry[] | undefined, path: string): Generator<Cause> {
  for (const [index, { operation = '', fieldsType, manager = '', subresource = '' }] of (entries ?? []).entries()) {
    const at = `${path}[${index}]`;
    if (operation !== 'Apply' && operation !== 'Update') {
      yield invalid(`${at}.operation`, operation, 'must be `Apply` or `Update`');
    }
    if (fieldsType && fieldsType !== 'FieldsV1') {
      yield invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`');
    }
    yield* validateFieldManager(manager, `${at}.manager`);
    if (Buffer.byteLength(subresource) > maxSubresourceLength) {
      yield tooLong(`${at}.subresource`, maxSubresourceLength);
    }
  }
}

const unprintable = /[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu;
/**
 * The form of nearly all managers. Every write validates every manager, and in an idle process the engine discards
 * compiled regular expressions with Unicode classes again and again, which took a tenth of the time of a lease renewal.
 */
const plainManager = /^[ -~]{0,128}$/;

/** Validates a field manager: short and printable. */
export function* validateFieldManager(manager: string, path: string): Generator<Cause> {
  if (plainManager.test(manager)) return;
  if (Buffer.byteLength(manager) > maxManagerLength) yield tooLong(path, maxManagerLength);
  for (const { 0: character, index } of manager.matchAll(unprintable)) {
    const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
    const position = Buffer.byteLength(manager.slice(0, index));
    yield invalid(path, manager, `invalid character U+${code} (at position ${position})`);
  }
}
