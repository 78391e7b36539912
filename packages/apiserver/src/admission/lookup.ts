import type { Kind } from '@kruise/schema/kind';
import type { ResourceRegistry } from '../registry.ts';

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
      const storage = () => resources.find(group, version, plural)?.storage;
      return {
        // The kind is built in, so its objects are stored in the version it is defined in.
        get(name, namespace) {
          const found = storage();
          return found?.cache.get(found.keyOf(namespace, name))?.object as T | undefined;
        },
        list(namespace) {
          const found = storage();
          if (!found) return [];
          const keyPrefix = namespace === undefined ? found.prefix : `${found.prefix}${namespace}/`;
          return found.cache.list({ keyPrefix }).map(({ object }) => object as T);
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
