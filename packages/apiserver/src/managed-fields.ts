/**
 * Who manages which fields of an object, in memory. Written out that is as much as the rest of the object, but objects
 * made alike say the same: sets of fields, and whole entries of the same second, are held once for all of them.
 */
import type { ManagedFieldsEntry } from '@kruise/api/meta/object-meta';
import { stringify } from '@kruise/values/go-json';

/** What `metadata.managedFields` holds. */
export type ManagedFields = readonly ManagedFieldsEntry[];

type Fields = NonNullable<ManagedFieldsEntry['fieldsV1']>;

/** An entry as JSON, in parts: the set of fields is nearly all of it, and the same for many. */
type EntryText = { readonly before: string; readonly fields: string; readonly after: string };

/** How many are looked for among those held; what is alike but was met longer ago is held once more. */
const maxRemembered = 4096;
/** Maximum length that is looked up: clients can make longer ones as long as a request, each different. */
const maxSharedLength = 16 * 1024;
const entriesByText = new Map<string, ManagedFieldsEntry>();
const setsByText = new Map<string, Fields>();
const entryTexts = new WeakMap<ManagedFieldsEntry, EntryText>();
const setTexts = new WeakMap<Fields, string>();

/** The same entries, as far as they are held already those that are. */
export function shared(entries: ManagedFields): ManagedFields {
  const held = entries.map(sharedEntry);
  return held.every((entry, index) => entry === entries[index]) ? entries : held;
}

/** The JSON text of entries, in parts. */
export function textsOf(entries: ManagedFields): string[] {
  const texts: string[] = [];
  for (const entry of entries) {
    const { before, fields, after } = entryTexts.get(entry) ?? textOf(entry);
    texts.push(texts.length === 0 ? '[' : ',', before, fields, after);
  }
  texts.push(texts.length === 0 ? '[]' : ']');
  return texts;
}

function sharedEntry(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  if (entryTexts.has(entry)) return entry;
  const text = textOf(entry);
  const joined = text.before + text.fields + text.after;
  const known = entriesByText.get(joined);
  if (known) return known;
  const held = withSharedSet(entry);
  entryTexts.set(held, held === entry ? text : textOf(held));
  remember(entriesByText, joined, held);
  return held;
}

function withSharedSet(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  if (entry.fieldsV1 == null) return entry;
  const fieldsV1 = sharedSet(entry.fieldsV1);
  return fieldsV1 === entry.fieldsV1 ? entry : { ...entry, fieldsV1 };
}

function sharedSet(set: Fields): Fields {
  const text = setText(set);
  const known = setsByText.get(text);
  if (known) return known;
  remember(setsByText, text, set);
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

function remember<T>(known: Map<string, T>, text: string, value: T): void {
  if (text.length > maxSharedLength) return;
  if (known.size >= maxRemembered) known.delete(known.keys().next().value!);
  known.set(text, value);
}
