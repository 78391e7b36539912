/**
 * In-memory store of the objects of one kind, with indexes. Objects are stored by reference: in one process they are
 * the objects of the API server itself. An index is built on first use and maintained from then on, so that unused
 * indexes cost nothing and need no registration.
 */
import type { Reference } from '../api/client.ts';
import { type Key, type KubernetesObject, keyFor } from './object-key.ts';

/**
 * Index function: returns the values under which an object is found. The function itself identifies the index:
 *
 * ```ts
 * const byNode = (pod: Pod) => (pod.spec?.nodeName ? [pod.spec.nodeName] : []);
 * caches.of(pod).byIndex(byNode, 'node-1');
 * ```
 */
export type IndexFunction<T> = (object: T) => readonly string[];

/** Lister: synchronous reads from a cache. Returned objects are shared and must not be modified. */
export type ObjectReader<T> = {
  get(key: Key | Reference): T | undefined;
  /** Lists all objects, or those of a namespace. */
  list(selection?: { readonly namespace?: string }): readonly T[];
  /** Lists the objects with an index value. */
  byIndex(index: IndexFunction<T>, value: string): readonly T[];
  /** Lists the objects with an owner reference to this owner. */
  ownedBy(owner: { readonly metadata: { readonly uid?: string } }): readonly T[];
  /** Lists the objects whose controller is this owner. */
  controlledBy(owner: { readonly metadata: { readonly uid?: string } }): readonly T[];
  readonly size: number;
};

/** Store with write access. */
export type ObjectStore<T> = ObjectReader<T> & {
  /** Stores an object and returns the previous one with the same key. */
  set(key: Key, object: T): T | undefined;
  /** Removes an object and returns it. */
  remove(key: Key): T | undefined;
  keys(): Iterable<Key>;
};

type Index<T> = Map<string, Map<Key, T>>;

/** Creates an empty store. */
export function createObjectStore<T extends KubernetesObject>(): ObjectStore<T> {
  const objects = new Map<Key, T>();
  const indexes = new Map<IndexFunction<T>, Index<T>>();
  const indexOf = (index: IndexFunction<T>): Index<T> => {
    let built = indexes.get(index);
    if (!built) {
      built = new Map();
      for (const [key, object] of objects) addToIndex(built, index(object), key, object);
      indexes.set(index, built);
    }
    return built;
  };
  const findByIndex = (index: IndexFunction<T>, value: string): readonly T[] => {
    const found = indexOf(index).get(value);
    return found ? [...found.values()] : [];
  };

  return {
    get: (key) => objects.get(typeof key === 'string' ? key : keyFor(key)),
    list: ({ namespace } = {}) =>
      namespace === undefined ? [...objects.values()] : findByIndex(namespaceOf, namespace),
    byIndex: findByIndex,
    ownedBy: ({ metadata }) => (metadata.uid === undefined ? [] : findByIndex(ownersOf, metadata.uid)),
    controlledBy: ({ metadata }) => (metadata.uid === undefined ? [] : findByIndex(controllersOf, metadata.uid)),
    get size() {
      return objects.size;
    },
    set(key, object) {
      const previous = objects.get(key);
      objects.set(key, object);
      for (const [index, entries] of indexes) {
        const values = index(object);
        if (previous !== undefined) removeFromIndex(entries, index(previous), key, values);
        addToIndex(entries, values, key, object);
      }
      return previous;
    },
    remove(key) {
      const previous = objects.get(key);
      if (previous === undefined) return undefined;
      objects.delete(key);
      for (const [index, entries] of indexes) removeFromIndex(entries, index(previous), key, []);
      return previous;
    },
    keys: () => objects.keys(),
  };
}

function addToIndex<T>(entries: Index<T>, values: readonly string[], key: Key, object: T): void {
  for (const value of values) {
    const found = entries.get(value);
    if (found) found.set(key, object);
    else entries.set(value, new Map([[key, object]]));
  }
}

function removeFromIndex<T>(entries: Index<T>, values: readonly string[], key: Key, kept: readonly string[]): void {
  // Most objects have one or two values, for which a linear search is faster. With ten thousand labels it would take a
  // hundred million steps.
  const keptSet = kept.length > maxLinearSearch ? new Set(kept) : undefined;
  for (const value of values) {
    if (keptSet ? keptSet.has(value) : kept.includes(value)) continue;
    const found = entries.get(value);
    found?.delete(key);
    if (found?.size === 0) entries.delete(value);
  }
}

const maxLinearSearch = 16;
const none: readonly string[] = [];

function namespaceOf({ metadata }: KubernetesObject): readonly string[] {
  return metadata.namespace === undefined ? none : [metadata.namespace];
}

function ownersOf({ metadata }: KubernetesObject): readonly string[] {
  return metadata.ownerReferences?.map(({ uid }) => uid) ?? none;
}

function controllersOf({ metadata }: KubernetesObject): readonly string[] {
  return metadata.ownerReferences?.filter(({ controller }) => controller).map(({ uid }) => uid) ?? none;
}
