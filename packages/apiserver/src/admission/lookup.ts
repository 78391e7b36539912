import type { Kind, KubernetesObject } from '@kruise/schema/kind';
import type { ObjectStorage } from '../objects/object-storage.ts';
import type { ResourceRegistry } from '../registry.ts';

/** Lister for the objects of one kind, backed by the server's cache. */
export type Objects<T> = {
  get(name: string, namespace?: string): T | undefined;
  /** Returns the objects of a namespace, or all objects, sorted by name. */
  list(namespace?: string): readonly T[];
  /** Revision of the last change. An equal number means that no object changed. */
  readonly changedAt: number;
};

/** Listers for admission plugins: synchronous reads of shared objects in the cache. */
export type Lookup = {
  of<T extends KubernetesObject>(kind: Kind<T>): Objects<T>;
  /**
   * Resolves when the cache contains everything that was stored before the call. Plugins call this after a cache miss.
   */
  waitForCurrent(): Promise<void>;
};

export function createLookup(resources: ResourceRegistry, feed: { waitForCurrent(): Promise<void> }): Lookup {
  return {
    waitForCurrent: () => feed.waitForCurrent(),
    of<T extends KubernetesObject>({ group, version, plural }: Kind<T>): Objects<T> {
      let found: ObjectStorage | undefined;
      let foundAt = -1;
      // Every write needs the storage, so the lookup result is kept until the set of resources changes.
      const storage = () => {
        if (foundAt !== resources.generation) {
          found = resources.find(group, version, plural)?.storage;
          foundAt = resources.generation;
        }
        return found;
      };
      return {
        // The kind is built in, so its storage version is the version it is defined in.
        get(name, namespace) {
          const stored = storage();
          return stored?.cache.get(stored.keyOf(namespace, name))?.object as T | undefined;
        },
        list(namespace) {
          const stored = storage();
          if (!stored) return [];
          const keyPrefix = namespace === undefined ? stored.prefix : `${stored.prefix}${namespace}/`;
          return stored.cache.list({ keyPrefix }).map(({ object }) => object as T);
        },
        get changedAt() {
          return storage()?.cache.changedAt ?? 0;
        },
      };
    },
  };
}

/** Memoizes a value derived from all objects of a kind. The value is recomputed only after an object changed. */
export function derived<T, R>(objects: Objects<T>, make: (all: readonly T[]) => R): () => R {
  let madeAt = -1;
  let made: R;
  return () => {
    const { changedAt } = objects;
    if (changedAt !== madeAt) {
      made = make(objects.list());
      madeAt = changedAt;
    }
    return made;
  };
}
