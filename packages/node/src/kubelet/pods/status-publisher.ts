/**
 * Status publisher of one Pod: computes the status when it is needed, and passes it to the status writer. While the Pod
 * starts, updates are debounced, so that a Pod that starts quickly is written once.
 *
 * The publisher is a record that only the functions of this file change: a node has thousands of Pods, and methods of
 * each would take more memory than the state.
 */
import type { PodStatus } from '@kruise/api/core/pod';
import type { CancelTimer, Clock } from '@kruise/values/clock';

type State = {
  readonly source: StatusSource;
  /** The last computed status, which may be stale. */
  lastStatus: PodStatus | undefined;
  /** True if the status must be recomputed. */
  isStale: boolean;
  /** True if a status update is pending; the debounce limits how long it waits. */
  isPending: boolean;
  debounceUntil: number;
  cancelDebounce: CancelTimer | undefined;
};

/** Status publisher of a Pod. */
export type StatusPublisher = Readonly<State>;

/** Dependencies of a status publisher. */
export type StatusSource = {
  readonly clock: Clock;
  /** Returns the status that the API has. */
  apiStatus(): PodStatus | undefined;
  /** Computes the current status. */
  compute(previous: PodStatus): PodStatus;
  /** Reports whether updates are debounced. */
  isDebounced(): boolean;
  /** Reports whether a status waits for a later one. */
  isWithheld(status: PodStatus): boolean;
  /** Passes a status to the status writer. */
  report(status: PodStatus): void;
};

/** Debounce interval of status updates while a sync is in progress. */
const debounceMs = 100;

/** Creates a status publisher without a status. */
export function createStatusPublisher(source: StatusSource): StatusPublisher {
  return {
    source,
    lastStatus: undefined,
    isStale: false,
    isPending: false,
    debounceUntil: Number.NEGATIVE_INFINITY,
    cancelDebounce: undefined,
  };
}

/** Returns the current status, which may not be written to the API yet. */
export function currentStatus(publisher: State): PodStatus {
  const previous = publisher.lastStatus ?? publisher.source.apiStatus() ?? {};
  if (!publisher.isStale) return previous;
  publisher.isStale = false;
  publisher.lastStatus = publisher.source.compute(previous);
  return publisher.lastStatus;
}

/** Replaces the current status. */
export function replaceStatus(publisher: State, status: PodStatus): void {
  publisher.lastStatus = status;
}

/** Marks the status as stale. The status is computed only when it is written, to include later changes. */
export function markStatusDirty(publisher: State): void {
  publisher.isStale = true;
  scheduleStatusUpdate(publisher);
}

/** Reports the status now, or after the debounce interval. */
export function scheduleStatusUpdate(publisher: State): void {
  publisher.isPending = true;
  const { clock, isDebounced } = publisher.source;
  if (isDebounced()) {
    publisher.debounceUntil = clock.elapsedMs() + debounceMs;
    publisher.cancelDebounce ??= clock.setTimer(debounceMs, () => onDebounceEnd(publisher));
  } else flushStatus(publisher);
}

function onDebounceEnd(publisher: State): void {
  const { clock } = publisher.source;
  const left = publisher.debounceUntil - clock.elapsedMs();
  if (left > 0) publisher.cancelDebounce = clock.setTimer(left, () => onDebounceEnd(publisher));
  else flushStatus(publisher);
}

/** Reports a pending status update now. */
export function flushStatus(publisher: State): void {
  publisher.cancelDebounce?.();
  publisher.cancelDebounce = undefined;
  if (!publisher.isPending) return;
  const { isWithheld, report } = publisher.source;
  const status = currentStatus(publisher);
  if (isWithheld(status)) return;
  publisher.isPending = false;
  report(status);
}

/** Drops a pending status update. */
export function dropStatusUpdate(publisher: State): void {
  publisher.isPending = false;
}

/** Stops the debounce timer. */
export function stopPublisher(publisher: State): void {
  publisher.cancelDebounce?.();
}
