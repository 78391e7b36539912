/**
 * Watches of a store. A watch is a position in the history, not a queue: a slow consumer needs no memory except for the
 * values that it reads late.
 */
import type { HeldValues } from './held-values.ts';
import type { History, Version } from './history.ts';
import { CompactedError, type Entry, type StoreEvent, type WatchBatch, type WatchRequest } from './store.ts';

/** Watches of a store. */
export type Watchers = {
  /** Wakes the watches that wait for one of the new revisions. */
  notify(range: { readonly after: number; readonly upTo: number }): void;
  /** Makes every watch that is behind report its progress. */
  requestProgress(): void;
  /** Returns the revision that every watch has passed. */
  minPosition(): number;
  /** Starts a watch. */
  watch(request: WatchRequest): AsyncIterator<WatchBatch>;
  /** Ends all watches. */
  close(): void;
};

/** Dependencies of watches. */
export type WatchContext = {
  readonly history: History;
  readonly values: HeldValues;
  /** Returns the newest durable revision. */
  readonly acknowledged: () => number;
  readonly isOpen: () => boolean;
};

const eventsPerBatch = 1000;
/** Maximum number of revisions that a watch without matches scans per event loop turn. */
const revisionsPerBatch = 20_000;

type Watcher = {
  readonly prefix: string;
  /** Revision up to which the watch has scanned the history; the newest while the watcher waits. */
  position: number;
  /** Revision of the last yielded batch. */
  reported: number;
  /** Resolves the wait of the watcher, if it waits. */
  wake: (() => void) | undefined;
  /** The next batch is needed even if it is empty. */
  needsProgress: boolean;
  end(): void;
};

/** Creates the watches of a store. */
export function createWatchers({ history, values, acknowledged, isOpen }: WatchContext): Watchers {
  const watchers = new Set<Watcher>();

  function hasChange(prefix: string, { after, upTo }: { after: number; upTo: number }): boolean {
    for (let revision = after + 1; revision <= upTo; revision++) {
      if (history.writtenAt(revision).key.startsWith(prefix)) return true;
    }
    return false;
  }

  /** Advances a watcher over the new changes and returns those with its prefix. */
  function takeChanges(watcher: Watcher): readonly Version[] {
    // Changes are available from the compacted revision on, so a watch may be positioned right before it.
    if (watcher.position + 1 < history.compactRevision()) {
      watcher.end();
      throw new CompactedError(watcher.position + 1, history.compactRevision());
    }
    const versions: Version[] = [];
    const end = Math.min(acknowledged(), watcher.position + revisionsPerBatch);
    while (watcher.position < end && versions.length < eventsPerBatch) {
      const version = history.writtenAt(++watcher.position);
      if (version.key.startsWith(watcher.prefix)) versions.push(version);
    }
    return versions;
  }

  /** Returns the version that a version replaced, unless there was none or it is compacted. */
  function replacedBy({ revision, previous }: Version): Version | undefined {
    return revision > history.compactRevision() && !previous?.deleted ? previous : undefined;
  }

  async function eventsOf(versions: readonly Version[], withPrevious: boolean): Promise<StoreEvent[]> {
    const puts = versions.filter(({ deleted }) => !deleted);
    // Looked up before the await, during which compaction may unlink a version from its predecessor.
    const replaced = withPrevious ? versions.map(replacedBy) : [];
    const entries = new Map<number, Entry>();
    for (const entry of await values.entriesOf([...puts, ...replaced.filter((version) => version !== undefined)])) {
      entries.set(entry.modRevision, entry);
    }
    return versions.map(({ key, revision, createRevision, deleted }, index): StoreEvent => {
      const previous = replaced[index] && entries.get(replaced[index].revision);
      return {
        ...(deleted
          ? { type: 'delete', key, revision }
          : { type: 'put', key, revision, createRevision, value: entries.get(revision)!.value }),
        ...(previous && { previous }),
      };
    });
  }

  function watch({ prefix, afterRevision, signal, withPrevious = false }: WatchRequest): AsyncIterator<WatchBatch> {
    let isEnded = !isOpen() || signal.aborted;
    const watcher: Watcher = {
      prefix,
      position: afterRevision,
      reported: afterRevision,
      wake: undefined,
      needsProgress: false,
      end() {
        isEnded = true;
        watchers.delete(watcher);
        signal.removeEventListener('abort', watcher.end);
        watcher.wake?.();
      },
    };
    if (!isEnded) {
      watchers.add(watcher);
      signal.addEventListener('abort', watcher.end);
    }

    return {
      async next() {
        while (!isEnded) {
          const versions = takeChanges(watcher);
          const revision = watcher.position;
          const isCaughtUp = revision >= acknowledged();
          const isProgress = revision > watcher.reported && (watcher.needsProgress || !isCaughtUp);
          if (isCaughtUp) watcher.needsProgress = false;
          if (versions.length > 0 || isProgress) {
            const events = versions.length > 0 ? await values.trackRead(eventsOf(versions, withPrevious)) : [];
            if (isEnded) break;
            watcher.reported = revision;
            return { done: false, value: { events, revision } };
          }
          await new Promise<void>((resolve) => {
            watcher.wake = resolve;
          });
          watcher.wake = undefined;
        }
        return { done: true, value: undefined };
      },
      async return() {
        watcher.end();
        return { done: true, value: undefined };
      },
    };
  }

  return {
    notify(range) {
      for (const watcher of watchers) {
        if (!watcher.wake) continue;
        if (hasChange(watcher.prefix, range)) watcher.wake();
        else watcher.position = Math.max(watcher.position, range.upTo);
      }
    },
    requestProgress() {
      for (const watcher of watchers) {
        if (watcher.reported >= acknowledged()) continue;
        watcher.needsProgress = true;
        watcher.wake?.();
      }
    },
    minPosition() {
      let seen = acknowledged();
      for (const { position } of watchers) seen = Math.min(seen, position);
      return seen;
    },
    watch,
    close() {
      for (const watcher of watchers) watcher.end();
    },
  };
}
