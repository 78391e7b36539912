/** Who owns which fields of an object: the entries of `metadata.managedFields`, read. */
import type { ManagedFieldsEntry } from '@kruise/api/meta/object-meta';
import { stringify } from '@kruise/values/go-json';
import { compareStrings, quote } from '@kruise/values/go-syntax';
import { type FieldSet, markCanonical, readFieldSet, unionAll } from '../field-set/field-set.ts';

/** One owner: who, how, and in which version of the API, and the fields of that version it owns. */
export type Manager = {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
};

/** Owners by what tells them apart. */
export type Managers = ReadonlyMap<string, Manager>;

/** Nobody owns anything. */
export const noManagers: Managers = new Map();

/**
 * What tells an owner from the others: name, operation and subresource, and for updates the version, since an update
 * says nothing of fields other versions have. It is written as Go writes it, because Kubernetes sorts by the text.
 */
export function identityOf({ manager, operation, apiVersion, subresource }: Omit<Manager, 'time' | 'fields'>): string {
  let text = manager === '' ? '{' : `{"manager":${textOf(manager)},`;
  text += `"operation":"${operation}"`;
  if (operation === 'Update' && apiVersion !== '') text += `,"apiVersion":${textOf(apiVersion)}`;
  if (subresource !== '') text += `,"subresource":${textOf(subresource)}`;
  return `${text}}`;
}

const plainText = /^[\w.\-/:]*$/;

function textOf(text: string): string {
  return plainText.test(text) ? `"${text}"` : stringify(text);
}

/** Entries that cannot be read. */
export class ManagedFieldsError extends Error {
  override readonly name = 'ManagedFieldsError';
}

// Entries are immutable, and those of most objects are read again with every write to them.
const known = new WeakMap<readonly ManagedFieldsEntry[], Managers>();

/** The owners that entries name. Throws a `ManagedFieldsError` if there is any entry that cannot be read. */
export function readManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  if (!entries) return noManagers;
  let managers = known.get(entries);
  if (!managers) {
    managers = new Map(entries.map((entry, index) => readEntry(entry, index)));
    known.set(entries, managers);
  }
  return managers;
}

function readEntry(entry: ManagedFieldsEntry, index: number): [string, Manager] {
  const { manager = '', operation, apiVersion = '', subresource = '', time, fieldsType = '' } = entry;
  if (operation !== 'Apply' && operation !== 'Update') {
    throw new ManagedFieldsError('operation must be `Apply` or `Update`');
  }
  if (apiVersion === '') throw new ManagedFieldsError('apiVersion must not be empty');
  if (fieldsType === '') throw new ManagedFieldsError(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== 'FieldsV1') {
    throw new ManagedFieldsError(`invalid fieldsType ${quote(fieldsType)} in managed fields entry ${index}`);
  }
  const owner = { manager, operation, apiVersion, subresource } as const;
  const read: Manager = { ...owner, time: time ?? undefined, fields: readFields(entry) };
  if (isWrittenSo(entry, read)) written.set(read, entry);
  return [identityOf(owner), read];
}

function readFields(entry: ManagedFieldsEntry): FieldSet {
  try {
    return readFieldSet(entry.fieldsV1);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ManagedFieldsError(`error decoding set: ${reason}`, { cause: error });
  }
}

/** Whether owners come in the order their entries are written in. */
export function areInOrder(managers: Managers): boolean {
  let last: Manager | undefined;
  for (const manager of managers.values()) {
    if (last && byOperationAndAge(last, manager) > 0) return false;
    last = manager;
  }
  return true;
}

/** The entries of owners, in order; `undefined` if there are none. */
export function writeManagers(managers: Managers): readonly ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  const entries = [...managers.values()].sort(byOperationAndAge).map(writeEntry);
  known.set(entries, managers);
  return entries;
}

// Most owners are what they were before a write, and so are their entries, which many objects may share.
const written = new WeakMap<Manager, ManagedFieldsEntry>();

/** Whether an entry is the very one that would be written for the owner it was read as. */
function isWrittenSo(entry: ManagedFieldsEntry, { time, fields }: Manager): boolean {
  return entry.fieldsV1 === fields && entry.time === time && entry.manager !== '' && entry.subresource !== '';
}

function writeEntry(owner: Manager): ManagedFieldsEntry {
  const known = written.get(owner);
  if (known) return known;
  const { manager, operation, apiVersion, subresource, time, fields } = owner;
  return {
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: markCanonical(fields),
    ...(subresource === '' ? {} : { subresource }),
  };
}

function byOperationAndAge(a: Manager, b: Manager): number {
  if (a.operation !== b.operation) return a.operation === 'Apply' ? -1 : 1;
  return (
    byAge(a, b) ||
    compareStrings(a.manager, b.manager) ||
    compareStrings(a.apiVersion, b.apiVersion) ||
    compareStrings(a.subresource, b.subresource)
  );
}

const epoch = '1970-01-01T00:00:00Z';

/** By the second. Times are written in one form, in which the earlier text is the earlier time. */
function byAge({ time: a = epoch }: Manager, { time: b = epoch }: Manager): number {
  if (a.length === epoch.length && b.length === epoch.length) return compareStrings(a, b);
  return Math.floor(Date.parse(a) / 1000) - Math.floor(Date.parse(b) / 1000);
}

/** At most this many owners by update: every controller that ever touched an object would stay on it otherwise. */
const maxUpdateManagers = 10;
const oldUpdates = 'ancient-changes';

/** The owners, with the oldest updates of each version gathered under one name where there are too many. */
export function capManagers(managers: Managers): Managers {
  if (managers.size <= maxUpdateManagers) return managers;
  const updates = [...managers].filter(([, { operation }]) => operation === 'Update');
  let excess = updates.length - maxUpdateManagers;
  if (excess <= 0) return managers;
  updates.sort(([a, one], [b, other]) => byAge(one, other) || compareStrings(a, b));

  const gathered = new Map<string, [string, Manager][]>();
  for (const update of updates) {
    if (excess <= 0) break;
    const { apiVersion } = update[1];
    const oldest = gathered.get(apiVersion);
    // The first of a version makes room for nothing: only with a second do two become one.
    if (oldest) excess--;
    if (oldest) oldest.push(update);
    else gathered.set(apiVersion, [update]);
  }
  const capped = new Map(managers);
  for (const oldest of gathered.values()) gather(capped, oldest);
  return capped;
}

function gather(managers: Map<string, Manager>, oldest: readonly [string, Manager][]): void {
  const latest = oldest.at(-1)![1];
  if (oldest.length < 2) return;
  const bucket: Manager = { ...latest, manager: oldUpdates, subresource: '' };
  const identity = identityOf(bucket);
  const held = managers.get(identity);
  // With a bucket there already, the first of the version stays what it was: it was only to start one.
  const merged = held && oldest[0]![0] !== identity ? oldest.slice(1) : oldest;
  for (const [each] of merged) managers.delete(each);
  managers.set(identity, {
    ...bucket,
    fields: unionAll([...(held ? [held.fields] : []), ...merged.map(([, { fields }]) => fields)]),
  });
}
