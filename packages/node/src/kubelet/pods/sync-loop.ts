/**
 * Sync loop of one Pod: one sync at a time. Requests during a sync are coalesced into one more sync. A sync can be
 * aborted at any point.
 *
 * The loop is a record that only the functions of this file change: a node has thousands of Pods, and methods of each
 * would take more memory than the state.
 */
import type { CancelTimer, Clock } from '@kruise/values/clock';
import type { Relists } from '../runtime/relists.ts';

type State = {
  readonly context: SyncLoopContext;
  isRequested: boolean;
  isSyncing: boolean;
  current: AbortController | undefined;
  /** End of the last sync. */
  lastSyncAt: number;
  cancelObservation: CancelTimer | undefined;
};

/** Sync loop of a Pod. */
export type SyncLoop = Readonly<State>;

/** Dependencies of a sync loop. */
export type SyncLoopContext = {
  readonly clock: Clock;
  /** Relists that syncs wait for; absent if the kubelet watches runtime events. */
  readonly listings: Relists | undefined;
  /** Reports whether no further sync may start. */
  hasEnded(): boolean;
  sync(signal: AbortSignal): Promise<void>;
  /** Observes the state during a long sync. */
  observe(): void;
  /** Handles the error of a sync that was not aborted. */
  onError(error: unknown): void;
  /** Called when no further sync is requested. */
  onIdle(): void;
};

/** Time after which a long sync refreshes the reported status; Kubernetes relists every second, too. */
const observeAfterMs = 1000;

/** Creates an idle sync loop. */
export function createSyncLoop(context: SyncLoopContext): SyncLoop {
  return {
    context,
    isRequested: false,
    isSyncing: false,
    current: undefined,
    lastSyncAt: Number.NEGATIVE_INFINITY,
    cancelObservation: undefined,
  };
}

/** Requests a sync. */
export function requestSync(loop: State): void {
  loop.isRequested = true;
  if (!loop.isSyncing) void run(loop);
}

/**
 * Requests a sync after a runtime event. If the current sync takes long, the state is observed meanwhile: a sync that
 * waits, for example for an image pull, must not delay the status of other containers.
 */
export function requestSyncAfterEvent(loop: State): void {
  const { clock, observe } = loop.context;
  if (loop.isSyncing) {
    loop.cancelObservation ??= clock.setTimer(observeAfterMs, () => {
      loop.cancelObservation = undefined;
      observe();
    });
  }
  requestSync(loop);
}

/** Aborts the current sync. */
export function abortSync({ current }: SyncLoop): void {
  current?.abort();
}

/** Aborts the current sync and stops its timer. */
export function stopSyncLoop({ current, cancelObservation }: SyncLoop): void {
  current?.abort();
  cancelObservation?.();
}

async function run(loop: State): Promise<void> {
  const { clock, listings, hasEnded, sync, onError, onIdle } = loop.context;
  loop.isSyncing = true;
  while (loop.isRequested && !hasEnded()) {
    if (listings) await listings.waitForRelistAfter(loop.lastSyncAt);
    loop.isRequested = false;
    const controller = new AbortController();
    loop.current = controller;
    try {
      await sync(controller.signal);
    } catch (error) {
      if (!controller.signal.aborted && !hasEnded()) onError(error);
    }
    loop.current = undefined;
    loop.lastSyncAt = clock.now();
    loop.cancelObservation?.();
    loop.cancelObservation = undefined;
  }
  loop.isSyncing = false;
  onIdle();
}
