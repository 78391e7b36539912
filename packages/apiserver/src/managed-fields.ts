/**
 * In-memory representation of managedFields. Serialized, they are as large as the rest of the object. Objects created
 * alike have equal field sets, and equal entries within the same second, so these are interned.
 */
import type { ManagedFieldsEntry } from '@kruise/api/meta/object-meta';
import { stringify } from '@kruise/values/go-json';

/** Value of `metadata.managedFields`. */
export type ManagedFields = readonly ManagedFieldsEntry[];

type Fields = NonNullable<ManagedFieldsEntry['fieldsV1']>;

/** JSON text of an entry, in parts: the field set is nearly all of it, and shared by many entries. */
type EntryText = { readonly before: string; readonly fields: string; readonly after: string };

/** Maximum size of the intern table; an equal value that was last seen longer ago is held again. */
const maxInterned = 4096;
/** Maximum length of interned values: clients can send longer ones, each different. */
const maxInternedLength = 16 * 1024;
const entriesByText = new Map<string, ManagedFieldsEntry>();
const setsByText = new Map<string, Fields>();
const entryTexts = new WeakMap<ManagedFieldsEntry, EntryText>();
const setTexts = new WeakMap<Fields, string>();

/** Interns entries. */
export function internEntries(entries: ManagedFields): ManagedFields {
  const held = entries.map(internEntry);
  return held.every((entry, index) => entry === entries[index]) ? entries : held;
}

/** Returns the JSON text of entries, in parts. */
export function textsOf(entries: ManagedFields): string[] {
  const texts: string[] = [];
  for (const entry of entries) {
    const { before, fields, after } = entryTexts.get(entry) ?? textOf(entry);
    texts.push(texts.length === 0 ? '[' : ',', before, fields, after);
  }
  texts.push(texts.length === 0 ? '[]' : ']');
  return texts;
}

function internEntry(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  if (entryTexts.has(entry)) return entry;
  const text = textOf(entry);
  const joined = text.before + text.fields + text.after;
  const known = entriesByText.get(joined);
  if (known) return known;
  const held = withSharedSet(entry);
  entryTexts.set(held, held === entry ? text : textOf(held));
  intern(entriesByText, joined, held);
  return held;
}

function withSharedSet(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  if (entry.fieldsV1 == null) return entry;
  const fieldsV1 = internFieldSet(entry.fieldsV1);
  return fieldsV1 === entry.fieldsV1 ? entry : { ...entry, fieldsV1 };
}

function internFieldSet(set: Fields): Fields {
  const text = setText(set);
  const known = setsByText.get(text);
  if (known) return known;
  intern(setsByText, text, set);
  return set;
}

function textOf({ fieldsV1, subresource, ...rest }: ManagedFieldsEntry): EntryText {
  const before = stringify(rest).slice(0, -1);
  const after = subresource === undefined ? '}' : `,"subresource":${stringify(subresource)}}`;
  if (fieldsV1 == null) return { before, fields: '', after };
  return { before: `${before},"fieldsV1":`, fields: setText(fieldsV1), after };
}

function setText(set: Fields): string {
  let text = setTexts.get(set);
  if (text === undefined) {
    text = stringify(set);
    setTexts.set(set, text);
  }
  return text;
}

function intern<T>(known: Map<string, T>, text: string, value: T): void {
  if (text.length > maxInternedLength) return;
  if (known.size >= maxInterned) known.delete(known.keys().next().value!);
  known.set(text, value);
}
