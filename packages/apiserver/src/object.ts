import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { stringify } from '@kruise/values/go-json';
import { internEntries, type ManagedFields, textsOf } from './managed-fields.ts';

/** Object of any kind, as on the wire and in memory. Immutable: a change creates a new object. */
export type KubeObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
};

/** Object in the cache. managedFields are kept separately, because readers in the server do not need them. */
export type Cached = {
  /** Storage key. */
  readonly key: string;
  /** Object with its resourceVersion, without managedFields. */
  readonly object: KubeObject;
  /** Value of `metadata.managedFields`. */
  readonly managedFields: ManagedFields | undefined;
  readonly revision: number;
};

/** Object before the store has assigned a revision. */
export type Unversioned = Pick<Cached, 'object' | 'managedFields'>;

/** Splits managedFields off an object. */
export function split(object: KubeObject): Unversioned {
  const { managedFields, ...metadata } = object.metadata;
  if (managedFields === undefined) return { object, managedFields: undefined };
  return { object: { ...object, metadata }, managedFields: internEntries(managedFields) };
}

/** Returns the complete object, including managedFields. */
export function whole({ object, managedFields }: Unversioned): KubeObject {
  if (managedFields === undefined) return object;
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

/**
 * Returns the JSON text of a complete object from the text without managedFields, which are inserted as the last
 * metadata field. The text is in parts, so that it is copied at most once.
 */
export function wholeTexts(text: string, { object, managedFields }: Unversioned): readonly string[] {
  if (managedFields === undefined || object.metadata.managedFields !== undefined) return [text];
  const key = '"metadata":';
  const end = text.indexOf(key) + key.length + stringify(object.metadata).length - 1;
  return [text.slice(0, end), ',"managedFields":', ...textsOf(managedFields), text.slice(end)];
}

/** Returns the object with a resourceVersion, at the position of Go's field order. */
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

/**
 * Returns the object without a resourceVersion, which is the stored form: the store assigns a revision to each write.
 */
export function withoutRevision(object: KubeObject): KubeObject {
  if (object.metadata.resourceVersion === undefined) return object;
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
