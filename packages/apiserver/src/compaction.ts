import { type Clock, every } from '@kruise/values/clock';
import { type Store, StoreClosedError } from './store/store.ts';

/** As Kubernetes does: what is older than this is forgotten, a little later. */
const periodMs = 5 * 60_000;

/**
 * Forgets the past of a store bit by bit: each time, all that was superseded before the time before. So a list can be
 * continued, and a watch resumed, for at least one period and at most two. The answer tells, at any time, the oldest
 * revision that is not forgotten, as far as this server knows.
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
    // Whatever becomes of this time, the next one is about what is old by then.
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
