import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { stringify } from '@kruise/values/go-json';
import { type ManagedFields, shared, textsOf } from './managed-fields.ts';

/** An object of any kind, as it is on the wire and in memory. Never changed: a change is a new object. */
export type KubeObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
};

/**
 * An object as the server keeps it in memory. The record of who manages which field is apart: those who read objects
 * have no use for it.
 */
export type Cached = {
  /** Where it is stored. */
  readonly key: string;
  /** The object with its resourceVersion, without managedFields. */
  readonly object: KubeObject;
  /** Its `metadata.managedFields`. */
  readonly managedFields: ManagedFields | undefined;
  readonly revision: number;
};

/** What is stored of an object, and what the cache will keep once the store has given it a revision. */
export type Unversioned = Pick<Cached, 'object' | 'managedFields'>;

/** Takes the managed fields out of an object. */
export function split(object: KubeObject): Unversioned {
  const { managedFields, ...metadata } = object.metadata;
  if (managedFields === undefined) return { object, managedFields: undefined };
  return { object: { ...object, metadata }, managedFields: shared(managedFields) };
}

/** The object whole, managed fields included. */
export function whole({ object, managedFields }: Unversioned): KubeObject {
  if (managedFields === undefined) return object;
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

/**
 * The JSON text of an object whose own is given, with its managed fields where they belong: last in its metadata. In
 * parts, which are copied only once where they are needed as one.
 */
export function wholeTexts(text: string, { object, managedFields }: Unversioned): readonly string[] {
  if (managedFields === undefined || object.metadata.managedFields !== undefined) return [text];
  const key = '"metadata":';
  const end = text.indexOf(key) + key.length + stringify(object.metadata).length - 1;
  return [text.slice(0, end), ',"managedFields":', ...textsOf(managedFields), text.slice(end)];
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
