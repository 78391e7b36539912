import { type Clock, every } from '@kruise/values/clock';
import { type Store, StoreClosedError } from './store/store.ts';

/** Compaction interval, as in Kubernetes. */
const periodMs = 5 * 60_000;

/**
 * Compacts the store periodically. Each compaction removes all revisions that were superseded before the previous run,
 * so a list can be continued and a watch resumed for at least one interval and at most two. The returned function
 * reports the oldest available revision that this server knows of.
 */
export function compactRegularly(
  store: Store,
  clock: Clock,
  { signal, onError }: { readonly signal: AbortSignal; readonly onError: (error: unknown) => void },
): () => number {
  let oldest = 0;
  let revisionBefore: number | undefined;
  async function compact(): Promise<void> {
    const revision = await store.currentRevision();
    const before = revisionBefore;
    // Whatever the outcome of this run, the next run compacts up to the current revision.
    revisionBefore = revision;
    if (before === undefined) return;
    await store.compact(before);
    oldest = before;
  }
  every(
    clock,
    periodMs,
    () => {
      compact().catch((error) => {
        if (!signal.aborted && !(error instanceof StoreClosedError)) onError(error);
      });
    },
    signal,
  );
  return () => oldest;
}
