/**
 * How objects of one kind are told apart (`namespace/name`), and their versions put in order. Keys are plain strings
 * because they are what maps, queues and logs are made of.
 */
import type { ObjectReference } from '@kruise/api/core/reference';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { Reference } from './client.ts';

/** Names an object of a known kind: `namespace/name`, or `name` where the kind has no namespaces. */
export type Key = string;

/** What every object of every kind has. */
export type KubernetesObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
};

/** As much of an object as it takes to find it. */
export type Named = { readonly metadata: { readonly name?: string; readonly namespace?: string } };

/** The key of an object: `keyOf(pod)` is `default/web-0`. */
export function keyOf({ metadata: { name = '', namespace } }: Named): Key {
  return keyFor({ name, ...(namespace === undefined ? {} : { namespace }) });
}

/** The key of what a reference names. */
export function keyFor({ name, namespace }: Reference): Key {
  return namespace ? `${namespace}/${name}` : name;
}

/** The name and namespace in a key; the other way round from `keyFor`. */
export function referenceOf(key: Key): Reference {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** As much of an object as a reference to it says: enough to tell of it in an event. */
export function referencedObject(reference: ObjectReference): KubernetesObject {
  const { apiVersion = '', kind = '', namespace, name, uid } = reference;
  const metadata = { ...(namespace ? { namespace } : {}), ...(name ? { name } : {}), ...(uid ? { uid } : {}) };
  return { apiVersion, kind, metadata };
}

/**
 * Whether a version is another one or a later one. Kubernetes' versions are decimal numbers that only grow; of others
 * nothing is known but whether they are equal.
 */
export function isAtLeast(version: string | undefined, other: string): boolean {
  if (version === undefined) return false;
  if (version === other) return true;
  if (!isDecimal(version) || !isDecimal(other)) return false;
  return version.length === other.length ? version > other : version.length > other.length;
}

function isDecimal(version: string): boolean {
  return /^[1-9]\d*$/.test(version);
}
