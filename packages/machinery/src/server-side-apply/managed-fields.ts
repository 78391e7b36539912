import type { ManagedFieldsEntry } from '@kruise/api/meta/object-meta';
import { isObject, isSame, type JsonObject } from '../json-value.ts';
import { ManagedFieldsError, readManagers } from './managers.ts';

/** The metadata of an object. */
export function metadataOf(object: JsonObject): JsonObject {
  const { metadata } = object;
  return isObject(metadata) ? metadata : {};
}

/** The entries of an object, if it has any. */
export function entriesOf(object: JsonObject): readonly ManagedFieldsEntry[] | undefined {
  const { managedFields } = metadataOf(object);
  // Whoever hands in an object has decoded it, so a list here is a list of entries.
  return Array.isArray(managedFields) ? (managedFields as readonly ManagedFieldsEntry[]) : undefined;
}

/** An object with these entries and no others; with none the field is gone. */
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

/** Whether a client asks to forget all owners, by an empty list or one empty entry. */
export function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (!entries) return false;
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0]!).length === 0);
}

/** What is wrong with the entries of an object that admission has changed; `undefined` if nothing is. */
export function faultOfEntries(entries: readonly ManagedFieldsEntry[] | undefined): string | undefined {
  try {
    readManagers(entries);
    return undefined;
  } catch (error) {
    if (error instanceof ManagedFieldsError) return error.message;
    throw error;
  }
}

/**
 * An object to be stored, with the times its entries had before if nothing else would change: a write that says nothing
 * new is not a new version.
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

/** The manager a request is made by: the one it names, or else the start of its user agent, as far as that is printable. */
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
