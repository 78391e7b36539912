/**
 * State machine of a reflector: decides whether to list or to watch. The functions are pure, so that each rule can be
 * tested separately; `reflector.ts` executes the decisions.
 *
 * A broken watch resumes at the last resourceVersion, which is cheap. A new list is necessary only if that version has
 * expired on the server, or if the server sends invalid data.
 */
import { isExpired, isInvalid, StatusError } from '@kruise/machinery/status';
import { jitter, type Random } from '@kruise/values/random';
import type { ListOptions, WatchOptions } from '../api/client.ts';
import { TransportError } from '../api/http/transport-error.ts';

/** State of a reflector. */
export type ReflectorState = {
  /** All changes up to this resourceVersion have been delivered; undefined before the first list. */
  readonly version: string | undefined;
  readonly next: 'list' | 'stream' | 'watch';
  /** The next list must be the most recent state: the server rejected our resourceVersion, or the option is set. */
  readonly mustBeNewest: boolean;
  /** The continue token of a paged list expired: the next list is unpaged. */
  readonly isPagingDisabled: boolean;
  /** Number of consecutive failures. */
  readonly failures: number;
};

/** Options of the initial list. */
export type InitialListOptions = {
  /** Requests the initial state as watch events instead of a list. */
  readonly watchList?: boolean;
  /** Requests the most recent state instead of the cache of the server. */
  readonly newest?: boolean;
};

/** Returns the initial state of a reflector. */
export function initialState({ watchList = false, newest = false }: InitialListOptions): ReflectorState {
  return {
    version: undefined,
    next: watchList ? 'stream' : 'list',
    mustBeNewest: newest,
    isPagingDisabled: false,
    failures: 0,
  };
}

/** Returns the state after a complete list was delivered. */
export function afterList(state: ReflectorState, version: string): ReflectorState {
  return { ...state, version, next: 'watch', mustBeNewest: false, isPagingDisabled: false, failures: 0 };
}

/** Returns the state after an event or a bookmark was delivered. */
export function afterEvent(state: ReflectorState, version: string): ReflectorState {
  return { ...state, version, failures: 0 };
}

/** Returns the state after a watch that ended without an error; another watch follows. */
export function afterEnd(state: ReflectorState, { madeProgress }: { readonly madeProgress: boolean }): ReflectorState {
  return madeProgress ? { ...state, failures: 0 } : { ...state, failures: state.failures + 1 };
}

/** The server sent an invalid response, for example an event without a type or an object without a name. */
export class InvalidResponseError extends Error {
  override readonly name = 'GarbageError';
}

/** A watch or a list made no progress for too long. */
export class StalledError extends Error {
  override readonly name = 'SilenceError';
}

/** Returns the state after a failure. */
export function afterFailure(state: ReflectorState, error: unknown): ReflectorState {
  const failed = { ...state, failures: state.failures + 1 };
  switch (state.next) {
    case 'list':
      if (isExpired(error) && !state.isPagingDisabled && requestsNewest(state))
        return { ...failed, isPagingDisabled: true };
      if (isExpired(error) || isTooLargeVersion(error)) return { ...failed, mustBeNewest: true };
      return failed;
    case 'stream':
      // A server without WatchList either rejects the option or never reports that the state is complete.
      return isInvalid(error) || error instanceof StalledError ? { ...failed, next: 'list' } : failed;
    case 'watch':
      // Servers do not send bookmarks for kinds without writes if their store does not report progress. The watch has
      // already been idle for long; a backoff would only delay the first event of such a kind.
      if (error instanceof StalledError) return { ...state, failures: 0 };
      if (isExpired(error) || isTooLargeVersion(error) || error instanceof InvalidResponseError) {
        return { ...failed, next: 'list' };
      }
      // A connection that repeatedly breaks at the same event may break because of that event.
      if (failed.failures >= maxBrokenWatches && error instanceof TransportError && error.wasSent) {
        return { ...failed, next: 'list' };
      }
      return failed;
  }
}

/** Limit of consecutive broken watches without any event. */
const maxBrokenWatches = 5;

function requestsNewest({ version, mustBeNewest }: ReflectorState): boolean {
  return version === undefined || mustBeNewest;
}

/** Reports whether the server has not reached the requested resourceVersion yet. */
export function isTooLargeVersion(error: unknown): boolean {
  if (!(error instanceof StatusError) || error.reason !== 'Timeout') return false;
  // Servers before v1.19 set no cause.
  const causes = error.status.details?.causes ?? [];
  return (
    causes.some(({ reason }) => reason === 'ResourceVersionTooLarge') ||
    error.message.includes('Too large resource version')
  );
}

/**
 * Returns the options of a list. The first list may come from the cache of the server, however stale. Later lists must
 * not go back in time, so that no older version of an object becomes visible. Such a list is unpaged, because with a
 * limit the server would interpret the resourceVersion as an exact match.
 */
export function listRequest(state: ReflectorState, pageSize: number): ListOptions {
  const limit = state.isPagingDisabled ? {} : { limit: pageSize };
  if (state.mustBeNewest) return { resourceVersion: '', ...limit };
  if (state.version === undefined) return { resourceVersion: state.isPagingDisabled ? '' : '0', ...limit };
  return { resourceVersion: state.version, resourceVersionMatch: 'NotOlderThan' };
}

/** Returns the options of a watch from the last resourceVersion, or of a WatchList. */
export function watchRequest(state: ReflectorState, timeoutSeconds: number): WatchOptions {
  const common = { allowWatchBookmarks: true, timeoutSeconds };
  if (state.next !== 'stream') return { ...common, resourceVersion: state.version ?? '' };
  return {
    ...common,
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
    resourceVersion: state.version ?? '',
  };
}

const firstDelayMs = 800;
const maxDelayMs = 30_000;

/** Returns the delay before the next attempt: exponential backoff with jitter, up to a minute. */
export function delayMs({ failures }: ReflectorState, error: unknown, random: Random): number {
  if (failures === 0) return 0;
  // If the server rejects WatchList as invalid, the list follows immediately.
  if (isInvalid(error)) return 0;
  const backoffMs = jitter(random, Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 10)), 1);
  return Math.max(backoffMs, retryAfterMs(error));
}

function retryAfterMs(error: unknown): number {
  return error instanceof StatusError ? (error.status.details?.retryAfterSeconds ?? 0) * 1000 : 0;
}
