/** Field managers of an object: the parsed entries of `metadata.managedFields`. */
import type { ManagedFieldsEntry } from '@kruise/api/meta/object-meta';
import { stringify } from '@kruise/values/go-json';
import { compareStrings, quote } from '@kruise/values/go-syntax';
import { type FieldSet, markCanonical, readFieldSet, unionAll } from '../field-set/field-set.ts';

/** A field manager: name, operation and API version, and the fields it owns in that version. */
export type Manager = {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
};

/** Field managers by identity. */
export type Managers = ReadonlyMap<string, Manager>;

/** No field managers. */
export const noManagers: Managers = new Map();

/**
 * Returns the identity of a manager: name, operation and subresource, and for updates also the version, because an
 * update does not affect fields of other versions. The format is that of Go, because Kubernetes sorts by this text.
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

/** The entries are invalid. */
export class ManagedFieldsError extends Error {
  override readonly name = 'ManagedFieldsError';
}

// Cache: entries are immutable, and those of most objects are parsed again with every write.
const known = new WeakMap<readonly ManagedFieldsEntry[], Managers>();

/** Parses entries. Throws `ManagedFieldsError` if an entry is invalid. */
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
  if (isCanonicalEntry(entry, read)) written.set(read, entry);
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

/** Reports whether managers are in the order of their entries. */
export function areInOrder(managers: Managers): boolean {
  let last: Manager | undefined;
  for (const manager of managers.values()) {
    if (last && byOperationAndAge(last, manager) > 0) return false;
    last = manager;
  }
  return true;
}

/** Returns the entries of managers in order; `undefined` if there are none. */
export function writeManagers(managers: Managers): readonly ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  const entries = [...managers.values()].sort(byOperationAndAge).map(writeEntry);
  known.set(entries, managers);
  return entries;
}

// Cache: most managers are unchanged by a write, and many objects share their entries.
const written = new WeakMap<Manager, ManagedFieldsEntry>();

/** Reports whether an entry is exactly what would be written for its manager. */
function isCanonicalEntry(entry: ManagedFieldsEntry, { time, fields }: Manager): boolean {
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

/** Compares by second. All times have one format, in which the earlier text is the earlier time. */
function byAge({ time: a = epoch }: Manager, { time: b = epoch }: Manager): number {
  if (a.length === epoch.length && b.length === epoch.length) return compareStrings(a, b);
  return Math.floor(Date.parse(a) / 1000) - Math.floor(Date.parse(b) / 1000);
}

/** Limit of managers by Update; otherwise every controller that ever wrote an object would stay in it. */
const maxUpdateManagers = 10;
const oldUpdates = 'ancient-changes';

/** Merges the oldest updates of each version into one manager if there are too many. */
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
    // Only the second manager of a version reduces the count: two become one.
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
  // If the bucket exists already, the first manager of the version is not merged.
  const merged = held && oldest[0]![0] !== identity ? oldest.slice(1) : oldest;
  for (const [each] of merged) managers.delete(each);
  managers.set(identity, {
    ...bucket,
    fields: unionAll([...(held ? [held.fields] : []), ...merged.map(([, { fields }]) => fields)]),
  });
}
