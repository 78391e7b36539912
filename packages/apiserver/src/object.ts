import type { ManagedFieldsEntry, ObjectMeta } from '@kruise/api/meta/object-meta';
import { stringify } from '@kruise/values/go-json';

/** An object of any kind, as it is on the wire and in memory. Never changed: a change is a new object. */
export type KubeObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
};

/**
 * An object as the server keeps it in memory. The record of who manages which field is as large as half the object,
 * is read only by the next write, and is therefore kept as the text it is stored as.
 */
export type Cached = {
  /** Where it is stored. */
  readonly key: string;
  /** The object with its resourceVersion, without managedFields. */
  readonly object: KubeObject;
  /** The JSON text of `metadata.managedFields`. */
  readonly managedFields: string | undefined;
  readonly revision: number;
};

/** What is stored of an object, and what the cache will keep once the store has given it a revision. */
export type Unversioned = Pick<Cached, 'object' | 'managedFields'>;

/** Takes the managed fields out of an object. */
export function split(object: KubeObject): Unversioned {
  const { managedFields, ...metadata } = object.metadata;
  if (managedFields === undefined) return { object, managedFields: undefined };
  return { object: { ...object, metadata }, managedFields: textOf(managedFields) };
}

/** The object whole, managed fields included. */
export function whole({ object, managedFields }: Unversioned): KubeObject {
  if (managedFields === undefined) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: entriesOf(managedFields) } };
}

/**
 * The JSON text of an object whose own is given, with its managed fields where they belong: last in its metadata. In
 * parts, which are copied only once where they are needed as one.
 */
export function wholeTexts(text: string, { object, managedFields }: Unversioned): readonly string[] {
  if (managedFields === undefined || object.metadata.managedFields !== undefined) return [text];
  const key = '"metadata":';
  const end = text.indexOf(key) + key.length + stringify(object.metadata).length - 1;
  return [text.slice(0, end), ',"managedFields":', managedFields, text.slice(end)];
}

type Entries = readonly ManagedFieldsEntry[];

/**
 * Managed fields lately read or written, by their text. Objects made alike in the same second, as those of one
 * controller are, have the same, and share the text; and most objects are written again soon after they were.
 */
const recent = new Map<string, Entries>();
/** As many as a burst of writes may be about; the sets of fields in them are mostly the same. */
const recentCount = 8192;
const texts = new WeakMap<Entries, string>();
const fieldTexts = new WeakMap<object, string>();

function textOf(entries: Entries): string {
  const known = texts.get(entries);
  if (known !== undefined) return known;
  const text = `[${entries.map(entryText).join(',')}]`;
  const alike = recent.get(text);
  const shared = alike === undefined ? text : texts.get(alike)!;
  remember(shared, alike ?? entries);
  texts.set(entries, shared);
  return shared;
}

/** Of an entry the set of fields is nearly all there is, and changes the least. */
function entryText({ fieldsV1, subresource, ...rest }: ManagedFieldsEntry): string {
  const start = stringify(rest).slice(0, -1);
  const fields = fieldsV1 == null ? '' : `,"fieldsV1":${fieldsText(fieldsV1)}`;
  return `${start}${fields}${subresource === undefined ? '' : `,"subresource":${stringify(subresource)}`}}`;
}

function fieldsText(fields: object): string {
  let text = fieldTexts.get(fields);
  if (text === undefined) {
    text = stringify(fields);
    fieldTexts.set(fields, text);
  }
  return text;
}

function entriesOf(text: string): Entries {
  let entries = recent.get(text);
  if (!entries) {
    entries = JSON.parse(text) as Entries;
    remember(text, entries);
  }
  return entries;
}

function remember(text: string, entries: Entries): void {
  if (recent.size >= recentCount) recent.delete(recent.keys().next().value!);
  recent.set(text, entries);
  texts.set(entries, text);
}

/** The object with a resourceVersion, in the place Go's field order gives it. */
export function withRevision(object: KubeObject, revision: number): KubeObject {
  const { name, generateName, namespace, selfLink, uid, resourceVersion: _, ...rest } = object.metadata;
  return {
    ...object,
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(generateName === undefined ? {} : { generateName }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(selfLink === undefined ? {} : { selfLink }),
      ...(uid === undefined ? {} : { uid }),
      resourceVersion: String(revision),
      ...rest,
    },
  };
}

/** The object without a resourceVersion, which is how it is stored: the store gives each write its own. */
export function withoutRevision(object: KubeObject): KubeObject {
  if (object.metadata.resourceVersion === undefined) return object;
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
