/** Resources that several users share: created for the first user and released after the last one. */

export type SharedResources<T> = {
  /** Returns the resource of a name for one more user. The first user creates it. */
  acquire(name: string, create: () => Resource<T>): T;
  /** Ends one use. The last one releases the resource. */
  release(name: string): void;
  get(name: string): T | undefined;
  values(): Iterable<T>;
};

export type Resource<T> = { readonly value: T; readonly release: () => void };

export function createSharedResources<T>(): SharedResources<T> {
  const entries = new Map<string, Resource<T> & { users: number }>();
  return {
    acquire(name, create) {
      let entry = entries.get(name);
      if (!entry) entries.set(name, (entry = { ...create(), users: 0 }));
      entry.users++;
      return entry.value;
    },
    release(name) {
      const entry = entries.get(name);
      if (!entry) throw new Error(`${name} is not in use`);
      if (--entry.users > 0) return;
      entries.delete(name);
      entry.release();
    },
    get: (name) => entries.get(name)?.value,
    *values() {
      for (const { value } of entries.values()) yield value;
    },
  };
}
