import { type Cached, type KubeObject, withRevision } from '../object.ts';

/** A change of one object, as the cache saw it. */
export type Change = {
  readonly revision: number;
  readonly key: string;
  /** The state before, unless the object is new. */
  readonly previous: Cached | undefined;
  /** The state after, unless the object is gone. */
  readonly current: Cached | undefined;
};

/** What one watcher is told: a change seen through what it asked for. */
export type WatchEvent = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly cached: Cached;
  readonly change: Change;
};

/** What a watcher asked for. */
export type Scope = {
  /** Only keys that begin so. */
  readonly keyPrefix: string;
  /** Only objects of this kind; absent means all. */
  readonly matches?: (object: KubeObject) => boolean;
};

const departures = new WeakMap<Change, Cached>();

/** The last state a watcher knew of an object it sees no more, at the revision of the change that took it away. */
function departed(change: Change, previous: Cached): Cached {
  let found = departures.get(change);
  if (!found) {
    found = { ...previous, object: withRevision(previous.object, change.revision), revision: change.revision };
    departures.set(change, found);
  }
  return found;
}

/** What a watcher of this scope sees of a change, if anything. */
export function seenFrom({ keyPrefix, matches }: Scope, change: Change): WatchEvent | undefined {
  if (!change.key.startsWith(keyPrefix)) return undefined;
  const { previous, current } = change;
  const before = previous !== undefined && (matches?.(previous.object) ?? true);
  const now = current !== undefined && (matches?.(current.object) ?? true);
  if (now) return { type: before ? 'MODIFIED' : 'ADDED', cached: current, change };
  return before ? { type: 'DELETED', cached: departed(change, previous), change } : undefined;
}
