/**
 * What a reflector knows, and what it does next: list, or watch on from where it is. Pure, so that each rule can be
 * tested by itself; `reflector.ts` does what is decided here.
 *
 * A broken watch goes on from the last version seen, and costs nothing. Only a server that no longer has that version,
 * or sends what makes no sense, makes it necessary to list again.
 */
import { isExpired, isInvalid, StatusError } from '@kruise/machinery/status';
import { jitter, type Random } from '@kruise/values/random';
import type { ListOptions, WatchOptions } from './client.ts';
import { TransportError } from './http/transport-error.ts';

/** What a reflector has to go on. */
export type ReflectorState = {
  /** Everything up to this version has been handed on; absent before the first list. */
  readonly version: string | undefined;
  readonly next: 'list' | 'stream' | 'watch';
  /** The next list is of the newest state there is: the server would not list from our version, or it was asked for. */
  readonly mustBeNewest: boolean;
  /** A list in pages took longer than the server remembers: it is asked for whole. */
  readonly isPagingLost: boolean;
  /** How often in a row nothing was gained. */
  readonly failures: number;
};

/** How the first state is asked for. */
export type FirstState = {
  /** As events of a watch, rather than as a list. */
  readonly stream?: boolean;
  /** The newest there is, rather than what a server's cache has. */
  readonly newest?: boolean;
};

/** The state of a reflector that has seen nothing. */
export function initialState({ stream = false, newest = false }: FirstState): ReflectorState {
  return {
    version: undefined,
    next: stream ? 'stream' : 'list',
    mustBeNewest: newest,
    isPagingLost: false,
    failures: 0,
  };
}

/** The state once all objects as of a version have been handed on. */
export function afterState(state: ReflectorState, version: string): ReflectorState {
  return { ...state, version, next: 'watch', mustBeNewest: false, isPagingLost: false, failures: 0 };
}

/** The state once an event or a bookmark of a version has been handed on. */
export function afterEvent(state: ReflectorState, version: string): ReflectorState {
  return { ...state, version, failures: 0 };
}

/** The state after a watch that came to its end without a fault: another follows. */
export function afterEnd(state: ReflectorState, { wasFruitful }: { readonly wasFruitful: boolean }): ReflectorState {
  return wasFruitful ? { ...state, failures: 0 } : { ...state, failures: state.failures + 1 };
}

/** A server sent what no server sends: an event without a type, an object without a name. */
export class GarbageError extends Error {
  override readonly name = 'GarbageError';
}

/** A watch gave no sign of life for longer than a living one would. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

/** The state after something went wrong. */
export function afterFailure(state: ReflectorState, error: unknown): ReflectorState {
  const failed = { ...state, failures: state.failures + 1 };
  switch (state.next) {
    case 'list':
      if (isExpired(error) && !state.isPagingLost && isAskingForNewest(state)) return { ...failed, isPagingLost: true };
      if (isExpired(error) || isTooLargeVersion(error)) return { ...failed, mustBeNewest: true };
      return failed;
    case 'stream':
      // A server that does not know the option either refuses it or never says that the state is complete.
      return isInvalid(error) || error instanceof SilenceError ? { ...failed, next: 'list' } : failed;
    case 'watch':
      // Servers have no bookmarks to send of kinds that nobody writes, where their store does not tell them how far it is.
      // The wait has been long already; a longer one would have the first change of such a kind seen late.
      if (error instanceof SilenceError) return { ...state, failures: 0 };
      if (isExpired(error) || isTooLargeVersion(error) || error instanceof GarbageError) {
        return { ...failed, next: 'list' };
      }
      // A connection that breaks at the same place again and again may break over what is sent there.
      if (failed.failures >= maxBreaks && error instanceof TransportError && error.wasSent) {
        return { ...failed, next: 'list' };
      }
      return failed;
  }
}

/** So many broken watches in a row, without one event between them, are taken for a sign. */
const maxBreaks = 5;

function isAskingForNewest({ version, mustBeNewest }: ReflectorState): boolean {
  return version === undefined || mustBeNewest;
}

/** Whether a server has not got as far as the version asked for. */
export function isTooLargeVersion(error: unknown): boolean {
  if (!(error instanceof StatusError) || error.reason !== 'Timeout') return false;
  // Servers before v1.19 gave no cause.
  const causes = error.status.details?.causes ?? [];
  return (
    causes.some(({ reason }) => reason === 'ResourceVersionTooLarge') ||
    error.message.includes('Too large resource version')
  );
}

/**
 * How to ask for a list. The first may come from a server's cache, however old; later ones must not go back in time,
 * so that nobody sees an object as it was before. Such a list is asked for whole: with a limit a server takes the
 * version for the exact one that is wanted.
 */
export function listRequest(state: ReflectorState, pageSize: number): ListOptions {
  const limit = state.isPagingLost ? {} : { limit: pageSize };
  if (state.mustBeNewest) return { resourceVersion: '', ...limit };
  if (state.version === undefined) return { resourceVersion: state.isPagingLost ? '' : '0', ...limit };
  return { resourceVersion: state.version, resourceVersionMatch: 'NotOlderThan' };
}

/** How to ask for the changes since the last version, or for the state and what changes after it. */
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

/** How long to wait before the next try: twice as long after each failure, up to a minute by chance. */
export function delayMs({ failures }: ReflectorState, error: unknown, random: Random): number {
  if (failures === 0) return 0;
  // A server that knows the option of streaming from no other is asked for a list at once.
  if (isInvalid(error)) return 0;
  const backOffMs = jitter(random, Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 10)), 1);
  return Math.max(backOffMs, retryAfterMs(error));
}

function retryAfterMs(error: unknown): number {
  return error instanceof StatusError ? (error.status.details?.retryAfterSeconds ?? 0) * 1000 : 0;
}
