import type { ObjectMeta } from '@kruise/api/meta/object-meta';

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
  return { object: { ...object, metadata }, managedFields: shared(JSON.stringify(managedFields)) };
}

const sharedTexts = new Map<string, string>();
const keptTexts = 512;

/**
 * The same text, but the one that others hold already: objects made alike in the same second, as those of one
 * controller are, have the same managed fields.
 */
function shared(text: string): string {
  const known = sharedTexts.get(text);
  if (known !== undefined) return known;
  if (sharedTexts.size >= keptTexts) sharedTexts.delete(sharedTexts.keys().next().value!);
  sharedTexts.set(text, text);
  return text;
}

/** The object whole, managed fields included. */
export function whole({ object, managedFields }: Unversioned): KubeObject {
  if (managedFields === undefined) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: JSON.parse(managedFields) } };
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
