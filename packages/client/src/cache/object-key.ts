/**
 * Object keys (`namespace/name`) and the order of resourceVersions. Keys are plain strings because maps, queues and
 * logs use them.
 */
import type { ObjectReference } from '@kruise/api/core/reference';
import type { KubernetesObject } from '@kruise/schema/kind';
import type { Reference } from '../api/client.ts';

/** Key of an object of a known kind: `namespace/name`, or `name` for cluster-scoped kinds. */
export type Key = string;

/** Fields that objects of every kind have. */
export type { KubernetesObject };

/** An object with name and namespace. */
export type NamedObject = { readonly metadata: { readonly name?: string; readonly namespace?: string } };

/**
 * Returns the key of an object: `keyOf(pod)` is `default/web-0`.
 *
 * ```ts
 * keyOf({ metadata: { namespace: 'default', name: 'web-0' } }); // default/web-0
 * ```
 */
export function keyOf({ metadata: { name = '', namespace } }: NamedObject): Key {
  return keyFor({ name, ...(namespace === undefined ? {} : { namespace }) });
}

/** Returns the key of a reference. */
export function keyFor({ name, namespace }: Reference): Key {
  return namespace ? `${namespace}/${name}` : name;
}

/** Returns the name and namespace of a key; the inverse of `keyFor`. */
export function referenceOf(key: Key): Reference {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Returns a minimal object from a reference, sufficient to record an Event about it. */
export function referencedObject(reference: ObjectReference): KubernetesObject {
  const { apiVersion = '', kind = '', namespace, name, uid } = reference;
  const metadata = { ...(namespace ? { namespace } : {}), ...(name ? { name } : {}), ...(uid ? { uid } : {}) };
  return { apiVersion, kind, metadata };
}

/**
 * Reports whether a resourceVersion is equal to or newer than another. Kubernetes' versions are increasing decimal
 * numbers; other formats are only compared for equality.
 */
export function isVersionAtLeast(version: string | undefined, other: string): boolean {
  if (version === undefined) return false;
  if (version === other) return true;
  if (!isDecimal(version) || !isDecimal(other)) return false;
  return version.length === other.length ? version > other : version.length > other.length;
}

function isDecimal(version: string): boolean {
  return /^[1-9]\d*$/.test(version);
}
