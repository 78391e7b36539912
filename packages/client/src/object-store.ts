/**
 * Objects of one kind in memory, found by key or by index without waiting. Objects are kept by reference: in one
 * process they are the API server's own. An index is built when it is first asked for and kept from then on, so that
 * nobody pays for, or has to announce, what nobody uses.
 */
import type { Reference } from './client.ts';
import { type Key, type KubernetesObject, keyFor } from './object-key.ts';

/**
 * The values an object is found by; a plain function, which is also the index's name:
 *
 * ```ts
 * const byNode = (pod: Pod) => (pod.spec?.nodeName ? [pod.spec.nodeName] : []);
 * caches.of(pod).byIndex(byNode, 'node-1');
 * ```
 */
export type IndexFunction<T> = (object: T) => readonly string[];

/** What can be read of a kind's objects, at once and without a request. Nothing that is returned may be changed. */
export type ObjectReader<T> = {
  get(key: Key | Reference): T | undefined;
  /** All objects, or those of a namespace. */
  list(selection?: { readonly namespace?: string }): readonly T[];
  /** The objects for which an index function gives a value. */
  byIndex(index: IndexFunction<T>, value: string): readonly T[];
  /** The objects that refer to this very owner, as their controller or not. */
  ownedBy(owner: { readonly metadata: { readonly uid?: string } }): readonly T[];
  /** The objects this very owner is the controller of. */
  controlledBy(owner: { readonly metadata: { readonly uid?: string } }): readonly T[];
  readonly size: number;
};

/** The objects themselves, with what changes them. */
export type ObjectStore<T> = ObjectReader<T> & {
  /** Puts an object in, in place of the one with its key, which is returned. */
  set(key: Key, object: T): T | undefined;
  /** Takes an object out and returns it. */
  remove(key: Key): T | undefined;
  keys(): Iterable<Key>;
};

type Index<T> = Map<string, Map<Key, T>>;

/** An empty store. */
export function createObjectStore<T extends KubernetesObject>(): ObjectStore<T> {
  const objects = new Map<Key, T>();
  const indexes = new Map<IndexFunction<T>, Index<T>>();
  const indexOf = (index: IndexFunction<T>): Index<T> => {
    let built = indexes.get(index);
    if (!built) {
      built = new Map();
      for (const [key, object] of objects) enter(built, index(object), key, object);
      indexes.set(index, built);
    }
    return built;
  };
  const find = (index: IndexFunction<T>, value: string): readonly T[] => {
    const found = indexOf(index).get(value);
    return found ? [...found.values()] : [];
  };

  return {
    get: (key) => objects.get(typeof key === 'string' ? key : keyFor(key)),
    list: ({ namespace } = {}) => (namespace === undefined ? [...objects.values()] : find(namespaceOf, namespace)),
    byIndex: find,
    ownedBy: ({ metadata }) => (metadata.uid === undefined ? [] : find(ownersOf, metadata.uid)),
    controlledBy: ({ metadata }) => (metadata.uid === undefined ? [] : find(controllersOf, metadata.uid)),
    get size() {
      return objects.size;
    },
    set(key, object) {
      const previous = objects.get(key);
      objects.set(key, object);
      for (const [index, entries] of indexes) {
        const values = index(object);
        if (previous !== undefined) leave(entries, index(previous), key, values);
        enter(entries, values, key, object);
      }
      return previous;
    },
    remove(key) {
      const previous = objects.get(key);
      if (previous === undefined) return undefined;
      objects.delete(key);
      for (const [index, entries] of indexes) leave(entries, index(previous), key, []);
      return previous;
    },
    keys: () => objects.keys(),
  };
}

function enter<T>(entries: Index<T>, values: readonly string[], key: Key, object: T): void {
  for (const value of values) {
    const found = entries.get(value);
    if (found) found.set(key, object);
    else entries.set(value, new Map([[key, object]]));
  }
}

function leave<T>(entries: Index<T>, values: readonly string[], key: Key, kept: readonly string[]): void {
  // As a rule an object has one value or two; one with ten thousand labels must not take a hundred million steps.
  const many = kept.length > few ? new Set(kept) : undefined;
  for (const value of values) {
    if (many ? many.has(value) : kept.includes(value)) continue;
    const found = entries.get(value);
    found?.delete(key);
    if (found?.size === 0) entries.delete(value);
  }
}

const few = 16;
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
