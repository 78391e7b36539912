import type { Kind } from '@kruise/schema/kind';
import type { ResourceRegistry } from '../registry.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';

/** The objects of one kind, from the server's memory. */
export type Objects<T> = {
  get(name: string, namespace?: string): T | undefined;
  /** Those of a namespace, or all, in the order of their names. */
  list(namespace?: string): readonly T[];
  /** The same number means that nothing has changed. */
  readonly changedAt: number;
};

/** How plugins see other objects: at once, from memory, shared with everybody. */
export type Lookup = {
  of<T>(kind: Kind<T>): Objects<T>;
  /** Resolves when memory has everything that was stored before the call; for plugins that miss something. */
  caughtUp(): Promise<void>;
};

export function createLookup(resources: ResourceRegistry, feed: { caughtUp(): Promise<void> }): Lookup {
  return {
    caughtUp: () => feed.caughtUp(),
    of<T>({ group, version, plural }: Kind<T>): Objects<T> {
      let found: ObjectStorage | undefined;
      let foundAt = -1;
      // Asked for with every write, so it is looked up only after resources came or went.
      const storage = () => {
        if (foundAt !== resources.generation) {
          found = resources.find(group, version, plural)?.storage;
          foundAt = resources.generation;
        }
        return found;
      };
      return {
        // The kind is built in, so its objects are stored in the version it is defined in.
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

/** Something made of all objects of a kind, made anew only after one of them changed. */
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
