/**
 * Migration from client-side to server-side apply. Client-side apply stores the applied object in an annotation and
 * owns the fields by Update; the first server-side apply of kubectl would conflict with all of them.
 */
import { stringifySorted } from '@kruise/values/go-json';
import { difference, emptySet, type FieldSet } from '../field-set/field-set.ts';
import { isObject, type JsonObject } from '../json-value.ts';
import { compare } from './compare.ts';
import { fieldSetOfValue } from './field-set-of-value.ts';
import { ListItemError } from './list-item.ts';
import type { TrackedKind } from './updater.ts';
import { TypedValueError, validate } from './validate.ts';

/** Annotation with the last configuration of `kubectl apply`. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** The field manager that takes over from client-side apply. */
export const kubectl = 'kubectl';

/**
 * Returns the fields that still have the value of client-side apply; kubectl may set them regardless of their owner.
 */
export function fieldsOfLastApplied(kind: TrackedKind, live: JsonObject): FieldSet {
  const lastApplied = readLastApplied(live);
  if (!lastApplied || lastApplied['apiVersion'] !== kind.apiVersion) return emptySet;
  try {
    validate(live, kind.type);
    validate(lastApplied, kind.type);
    const { added, modified, removed } = compare(lastApplied, live, kind.type);
    const fields = fieldSetOfValue(lastApplied, kind.type);
    return difference(difference(difference(fields, modified), added), removed);
  } catch (error) {
    // A configuration that does not match the schema belongs to another version and is ignored.
    if (error instanceof TypedValueError || error instanceof ListItemError) return emptySet;
    throw error;
  }
}

function annotationsOf(object: JsonObject): JsonObject {
  const { metadata } = object;
  return isObject(metadata) && isObject(metadata['annotations']) ? metadata['annotations'] : {};
}

function readLastApplied(live: JsonObject): JsonObject | undefined {
  const text = annotationsOf(live)[lastAppliedAnnotation];
  if (typeof text !== 'string') return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) && typeof parsed['kind'] === 'string' && parsed['kind'] !== '' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

const maxAnnotationsBytes = 256 * 1024;

/** Updates the annotation to the applied object, if the object has one; removes it if it would be too long. */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  const current = annotations[lastAppliedAnnotation];
  if (typeof current !== 'string' || current === '') return object;
  const { [lastAppliedAnnotation]: _, ...others } = annotations;
  const updated = { ...annotations, [lastAppliedAnnotation]: `${stringifySorted(withoutAnnotation(applied))}\n` };
  const kept = sizeOf(updated) > maxAnnotationsBytes ? others : updated;
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), annotations: kept } };
}

function withoutAnnotation(applied: JsonObject): JsonObject {
  const { metadata } = applied;
  if (!isObject(metadata) || !isObject(metadata['annotations'])) return applied;
  const { [lastAppliedAnnotation]: _, ...annotations } = metadata['annotations'];
  return { ...applied, metadata: { ...metadata, annotations } };
}

function sizeOf(annotations: JsonObject): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(annotations)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(String(value));
  }
  return bytes;
}
