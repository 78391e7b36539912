import { internalError, StatusError } from '@kruise/machinery/status';
import { after } from '@kruise/values/clock';
import { linkedController } from '@kruise/values/linked-controller';
import { jitter } from '@kruise/values/random';
import type { Watcher } from '../cache/object-cache.ts';
import { type Change, type Scope, type WatchEvent, watchEventFor } from '../cache/watchers.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { Found, Resource } from '../resource.ts';
import { type ListOptions, parseVersion } from './list-options.ts';
import { collectionPrefix, inVersion } from './read.ts';
import { type Selection, selectionOf } from './selection.ts';

/** Receiver of watch events. */
export type WatchSink = {
  /** Receives an event; `isOfState` marks events of the initial state, which may be long. */
  event(type: WatchEvent['type'], found: Found, isInitial: boolean): void;
  /** All events up to a revision have been sent; `initialEventsEnd` marks the end of the initial state. */
  bookmark(revision: number, initialEventsEnd: boolean): void;
  /** Ends the watch, with an error if there is one to send. */
  end(error?: StatusError): void;
};

/** Minimum timeout of a watch without `timeoutSeconds`; the maximum is twice as long. */
const minTimeoutMs = 1800_000;
const bookmarkPeriodMs = 60_000;
/** Time of the last bookmark before the end of a watch, so that the client can resume from there. */
const lastBookmarkMs = 2000;

/** Starts a watch. */
export type OpenWatch = (sink: WatchSink, signal: AbortSignal) => Promise<void>;

/** Prepares a watch. Errors in the request are thrown here, before the response starts. */
export function prepareWatch(core: Core, context: RequestContext, resource: Resource, options: ListOptions): OpenWatch {
  const selection = restrictToName(context.info.name, selectionOf(resource, options));
  const keyPrefix = collectionPrefix(resource, context.info.namespace);
  const scope = { keyPrefix, ...(selection.selectsAll ? {} : { matches: selection.matches }) };
  if (options.resourceVersion !== '') parseVersion(options.resourceVersion);
  const cacheQuery: CacheQuery = selection.needsConversion
    ? { scope: { keyPrefix }, observe: observeAfterConversion(resource, scope) }
    : { scope, observe: (event) => event };
  return (sink, signal) => watch(core, resource, options, cacheQuery, sink, signal);
}

/** Restricts the selection to the object that the path names. */
function restrictToName(name: string, selection: Selection): Selection {
  if (name === '') return selection;
  return {
    ...selection,
    selectsAll: false,
    matches: (object) => object.metadata.name === name && selection.matches(object),
  };
}

/** Cache scope, and the mapping of cache events to events of a watcher: an event or none, synchronous or not. */
type CacheQuery = {
  readonly scope: Scope;
  readonly observe: (event: ObservedEvent) => ObservedEvent | Promise<ObservedEvent | undefined>;
};

/** Event; an event without a change is part of the initial state. */
type ObservedEvent = Omit<WatchEvent, 'change'> & { readonly change?: Change };

/**
 * Evaluates the selection after the conversion: it may depend on the requested version, which may require a webhook,
 * and the cache cannot wait for that.
 */
function observeAfterConversion({ conversion }: Resource, scope: Scope): CacheQuery['observe'] {
  return async (event) => {
    const { change, cached } = event;
    if (!change) {
      await conversion.fromStorage(cached.object);
      return scope.matches?.(cached.object) === false ? undefined : event;
    }
    await Promise.all([change.previous, change.current].map((state) => state && conversion.fromStorage(state.object)));
    return watchEventFor(scope, change);
  };
}

/** Sends the changes of a resource to a client until either side ends the watch. */
async function watch(
  core: Core,
  resource: Resource,
  options: ListOptions,
  { scope, observe }: CacheQuery,
  sink: WatchSink,
  signal: AbortSignal,
): Promise<void> {
  const over = linkedController(signal);
  const { signal: ended } = over;
  const end = (reason?: unknown) => {
    if (over.signal.aborted) return;
    over.abort();
    if (reason === undefined) sink.end();
    else sink.end(reason instanceof StatusError ? reason : internalError(String(reason), { cause: reason }));
  };
  const stop = () => end();
  core.signal.addEventListener('abort', stop);
  ended.addEventListener('abort', () => core.signal.removeEventListener('abort', stop), { once: true });

  const { show, bookmark } = createOrderedOutput(resource, observe, sink, end);
  const watcher: Watcher = { signal: ended, receive: show, end };
  const { resourceVersion: version } = options;

  /** Reports whether the resource was changed or removed while this watch was being set up. */
  const isStale = () => {
    const { group, version: served, plural } = resource.kind;
    return core.resources.find(group, served, plural) !== resource;
  };

  let progress: () => number;
  const fromState = options.sendInitialEvents ?? (version === '' || version === '0');
  if (fromState) {
    if (version === '') await core.feed.waitForCurrent();
    else if (version !== '0') await core.feed.waitForRevision(parseVersion(version));
    await prepareState(resource, scope);
    if (isStale()) return end();
    const { items, revision } = resource.storage.cache.listAndWatch(scope, watcher);
    for (const cached of items) show({ type: 'ADDED', cached });
    if (options.sendInitialEvents && options.allowWatchBookmarks) bookmark(revision, true);
    progress = () => core.feed.revision;
  } else {
    let revision = version === '' || version === '0' ? core.feed.revision : parseVersion(version);
    try {
      await core.feed.waitForRevision(revision);
    } catch (error) {
      end(error);
      return;
    }
    // A watch without a resourceVersion starts at the current revision.
    if (version === '' || version === '0') revision = core.feed.revision;
    if (isStale()) return end();
    progress = resource.storage.cache.watch(scope, revision, watcher);
  }
  keepTime(core, options, { end: end, ended, bookmark: () => bookmark(progress(), false) });
}

/** Ends the watch at its timeout, and sends bookmarks until then. */
function keepTime(
  core: Core,
  options: ListOptions,
  { end, ended, bookmark }: { end: () => void; ended: AbortSignal; bookmark: () => void },
): void {
  const { clock, random } = core;
  const timeoutMs =
    options.timeoutSeconds === undefined ? jitter(random, minTimeoutMs, 1) : options.timeoutSeconds * 1000;
  clock.setTimer(timeoutMs, end, ended);
  if (!options.allowWatchBookmarks) return;
  if (timeoutMs > lastBookmarkMs) clock.setTimer(timeoutMs - lastBookmarkMs, bookmark, ended);
  const next = () =>
    after(clock, jitter(random, bookmarkPeriodMs, 0.1), ended).then(
      () => {
        bookmark();
        void next();
      },
      () => {},
    );
  void next();
}

/**
 * Converts the initial state in one batch. If that fails, the first object fails again, and its watcher receives the
 * error.
 */
async function prepareState({ conversion, storage }: Resource, { keyPrefix, matches }: Scope): Promise<void> {
  if (!conversion.prepare) return;
  const objects = storage.cache.list({ keyPrefix }).map(({ object }) => object);
  await conversion.prepare(matches ? objects.filter(matches) : objects).catch(() => {});
}

/** Keeps the order of events across asynchronous conversions; bookmarks follow the events that they cover. */
function createOrderedOutput(
  resource: Resource,
  observe: CacheQuery['observe'],
  sink: WatchSink,
  end: (reason: unknown) => void,
): { show(event: ObservedEvent): void; bookmark: WatchSink['bookmark'] } {
  let pending: Promise<void> | undefined;
  const converted = async (seen: ObservedEvent | undefined) =>
    seen && { type: seen.type, found: { cached: seen.cached, object: await inVersion(resource, seen.cached) } };
  const enqueue = (turn: Promise<void>) => {
    pending = turn;
    void turn.then(() => {
      if (pending === turn) pending = undefined;
    });
  };
  return {
    show(event) {
      const seen = observe(event);
      if (!(seen instanceof Promise) && !pending) {
        const object = inVersion(resource, seen.cached);
        if (!(object instanceof Promise)) {
          sink.event(seen.type, { cached: seen.cached, object }, !event.change);
          return;
        }
      }
      enqueue(
        Promise.all([Promise.resolve(seen).then(converted), pending]).then(([shown]) => {
          if (shown) sink.event(shown.type, shown.found, !event.change);
        }, end),
      );
    },
    bookmark(revision, initialEventsEnd) {
      if (pending) enqueue(pending.then(() => sink.bookmark(revision, initialEventsEnd)));
      else sink.bookmark(revision, initialEventsEnd);
    },
  };
}
