import { type Cached, type KubeObject, withRevision } from '../object.ts';

/** Change of one object, as the cache received it. */
export type Change = {
  readonly revision: number;
  readonly key: string;
  /** Previous state; undefined if the object was created. */
  readonly previous: Cached | undefined;
  /** New state; undefined if the object was deleted. */
  readonly current: Cached | undefined;
};

/** Event for one watcher: a change filtered by the watcher's scope. */
export type WatchEvent = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly cached: Cached;
  readonly change: Change;
};

/** Scope of a watcher. */
export type Scope = {
  /** Key prefix of the objects. */
  readonly keyPrefix: string;
  /** Selector of the objects; absent means all. */
  readonly matches?: (object: KubeObject) => boolean;
};

const lastSeenStates = new WeakMap<Change, Cached>();

/** Returns the last state that a watcher saw of an object that left its scope, at the revision of the change. */
function lastSeenState(change: Change, previous: Cached): Cached {
  let found = lastSeenStates.get(change);
  if (!found) {
    found = { ...previous, object: withRevision(previous.object, change.revision), revision: change.revision };
    lastSeenStates.set(change, found);
  }
  return found;
}

/** Returns the event that a watcher of this scope receives for a change, if any. */
export function watchEventFor({ keyPrefix, matches }: Scope, change: Change): WatchEvent | undefined {
  if (!change.key.startsWith(keyPrefix)) return undefined;
  const { previous, current } = change;
  const before = previous !== undefined && (matches?.(previous.object) ?? true);
  const now = current !== undefined && (matches?.(current.object) ?? true);
  if (now) return { type: before ? 'MODIFIED' : 'ADDED', cached: current, change };
  return before ? { type: 'DELETED', cached: lastSeenState(change, previous), change } : undefined;
}
