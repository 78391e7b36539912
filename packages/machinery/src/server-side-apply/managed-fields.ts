import type { ManagedFieldsEntry } from '@kruise/api/meta/object-meta';
import { isObject, isSame, type JsonObject } from '../json-value.ts';
import { ManagedFieldsError, readManagers } from './managers.ts';

/** Returns the metadata of an object. */
export function metadataOf(object: JsonObject): JsonObject {
  const { metadata } = object;
  return isObject(metadata) ? metadata : {};
}

/**
 * Returns the managedFields of an object, if it has any.
 *
 * ```ts
 * const managers = entriesOf(live)?.map(({ manager }) => manager);
 * ```
 */
export function entriesOf(object: JsonObject): readonly ManagedFieldsEntry[] | undefined {
  const { managedFields } = metadataOf(object);
  // The object is decoded, so a list here contains entries.
  return Array.isArray(managedFields) ? (managedFields as readonly ManagedFieldsEntry[]) : undefined;
}

/** Returns the object with these managedFields; without entries the field is removed. */
export function withEntries(object: JsonObject, entries: readonly ManagedFieldsEntry[] | undefined): JsonObject {
  const metadata = metadataOf(object);
  if (entries) {
    return metadata['managedFields'] === entries
      ? object
      : { ...object, metadata: { ...metadata, managedFields: entries } };
  }
  if (!Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** Reports whether a client resets managedFields with an empty list or one empty entry. */
export function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (!entries) return false;
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0]!).length === 0);
}

/** Returns the error of entries that admission has changed; `undefined` if they are valid. */
export function validateEntries(entries: readonly ManagedFieldsEntry[] | undefined): string | undefined {
  try {
    readManagers(entries);
    return undefined;
  } catch (error) {
    if (error instanceof ManagedFieldsError) return error.message;
    throw error;
  }
}

/**
 * Keeps the times of the stored entries if nothing else changes: a write without changes must not create a new version.
 */
export function keepTimes({ live, updated }: { readonly live: JsonObject; readonly updated: JsonObject }): JsonObject {
  const [before, after] = [entriesOf(live), entriesOf(updated)];
  if (!before || !after || before === after || before.length !== after.length) return updated;
  const isOnlyLater = after.every((entry, index) => isSame(withoutTime(entry), withoutTime(before[index]!)));
  if (!isOnlyLater || isSame(before, after)) return updated;
  return isSame(withEntries(live, undefined), withEntries(updated, undefined)) ? withEntries(updated, before) : updated;
}

function withoutTime({ time: _, ...entry }: ManagedFieldsEntry): object {
  return entry;
}

const maxManagerBytes = 128;
const plain = /^[ -~]{0,128}$/;
const printable = /^[ \p{L}\p{M}\p{N}\p{P}\p{S}]$/u;

/** Returns the field manager of a request: the explicit one, or the printable start of the user agent. */
export function managerOf({
  fieldManager,
  userAgent,
}: {
  readonly fieldManager: string;
  readonly userAgent: string;
}): string {
  if (fieldManager !== '') return fieldManager;
  const slash = userAgent.indexOf('/');
  const start = slash < 0 ? userAgent : userAgent.slice(0, slash);
  if (plain.test(start)) return start;
  let name = '';
  for (const character of start) {
    if (!printable.test(character)) continue;
    if (Buffer.byteLength(name + character) > maxManagerBytes) break;
    name += character;
  }
  return name;
}
