import { internalError, StatusError } from '@kruise/machinery/status';
import { after } from '@kruise/values/clock';
import { linkedController } from '@kruise/values/linked-controller';
import { jitter } from '@kruise/values/random';
import type { Watcher } from '../cache/object-cache.ts';
import { type Change, type Scope, seenFrom, type WatchEvent } from '../cache/watchers.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { Found, Resource } from '../resource.ts';
import { type ListOptions, parseVersion } from './list-options.ts';
import { collectionPrefix, inVersion } from './read.ts';
import { type Selection, selectionOf } from './selection.ts';

/** Who is shown what a watch sees. */
export type WatchSink = {
  /** `isOfState` says that it is of the state asked for first, which may be long. */
  event(type: WatchEvent['type'], found: Found, isOfState: boolean): void;
  /** Everything up to a revision has been shown; `initialEventsEnd` says that the state asked for first is complete. */
  bookmark(revision: number, initialEventsEnd: boolean): void;
  /** The watch is over: by itself, or because of an error the watcher is told. */
  end(error?: StatusError): void;
};

/** How long a watch may last when its client does not say: this long to twice as long. */
const usualTimeoutMs = 1800_000;
const bookmarkPeriodMs = 60_000;
/** A last bookmark comes this long before the end, so that the client can resume from there. */
const lastBookmarkMs = 2000;

/** Begins to show a watcher what it asked for. */
export type OpenWatch = (sink: WatchSink, signal: AbortSignal) => Promise<void>;

/** A watch about to begin. What is wrong with the request is said here, before the first byte of the answer. */
export function prepareWatch(core: Core, context: RequestContext, resource: Resource, options: ListOptions): OpenWatch {
  const selection = namedOnly(context.info.name, selectionOf(resource, options));
  const keyPrefix = collectionPrefix(resource, context.info.namespace);
  const scope = { keyPrefix, ...(selection.selectsAll ? {} : { matches: selection.matches }) };
  if (options.resourceVersion !== '') parseVersion(options.resourceVersion);
  const asked: Asked = selection.needsConversion
    ? { scope: { keyPrefix }, see: onceConverted(resource, scope) }
    : { scope, see: (event) => event };
  return (sink, signal) => watch(core, resource, options, asked, sink, signal);
}

/** A path may name the one object to be watched. */
function namedOnly(name: string, selection: Selection): Selection {
  if (name === '') return selection;
  return {
    ...selection,
    selectsAll: false,
    matches: (object) => object.metadata.name === name && selection.matches(object),
  };
}

/** What is asked of the cache, and what a watcher sees of its events: an event, or nothing, at once or later. */
type Asked = {
  readonly scope: Scope;
  readonly see: (event: Seen) => Seen | Promise<Seen | undefined>;
};

/** An event; one without a change is of the state a watch begins with. */
type Seen = Omit<WatchEvent, 'change'> & { readonly change?: Change };

/** Whether an object is selected may show only in its version, and that take a webhook: the cache does not wait for it. */
function onceConverted({ conversion }: Resource, scope: Scope): Asked['see'] {
  return async (event) => {
    const { change, cached } = event;
    if (!change) {
      await conversion.fromStorage(cached.object);
      return scope.matches?.(cached.object) === false ? undefined : event;
    }
    await Promise.all([change.previous, change.current].map((state) => state && conversion.fromStorage(state.object)));
    return seenFrom(scope, change);
  };
}

/** Shows a client the changes of a resource until either side has had enough. */
async function watch(
  core: Core,
  resource: Resource,
  options: ListOptions,
  { scope, see }: Asked,
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

  const { show, bookmark } = inOrder(resource, see, sink, end);
  const watcher: Watcher = { signal: ended, receive: show, end };
  const { resourceVersion: version } = options;

  /** A resource may have come to be served otherwise, or not at all, while this watch was on its way. */
  const isStale = () => {
    const { group, version: served, plural } = resource.kind;
    return core.resources.find(group, served, plural) !== resource;
  };

  let progress: () => number;
  const fromState = options.sendInitialEvents ?? (version === '' || version === '0');
  if (fromState) {
    if (version === '') await core.feed.caughtUp();
    else if (version !== '0') await core.feed.reached(parseVersion(version));
    await prepareState(resource, scope);
    if (isStale()) return end();
    const { items, revision } = resource.storage.cache.listAndWatch(scope, watcher);
    for (const cached of items) show({ type: 'ADDED', cached });
    if (options.sendInitialEvents && options.allowWatchBookmarks) bookmark(revision, true);
    progress = () => core.feed.revision;
  } else {
    let revision = version === '' || version === '0' ? core.feed.revision : parseVersion(version);
    try {
      await core.feed.reached(revision);
    } catch (error) {
      end(error);
      return;
    }
    // A watcher that starts from now sees nothing of what was.
    if (version === '' || version === '0') revision = core.feed.revision;
    if (isStale()) return end();
    progress = resource.storage.cache.watch(scope, revision, watcher);
  }
  keepTime(core, options, { end, ended, bookmark: () => bookmark(progress(), false) });
}

/** Ends the watch when its time is up and sends bookmarks until then. */
function keepTime(
  core: Core,
  options: ListOptions,
  { end, ended, bookmark }: { end: () => void; ended: AbortSignal; bookmark: () => void },
): void {
  const { clock, random } = core;
  const timeoutMs =
    options.timeoutSeconds === undefined ? jitter(random, usualTimeoutMs, 1) : options.timeoutSeconds * 1000;
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

/** Converts the state a watch begins with at once. Where that fails, so will the first object; its watcher is told. */
async function prepareState({ conversion, storage }: Resource, { keyPrefix, matches }: Scope): Promise<void> {
  if (!conversion.prepare) return;
  const objects = storage.cache.list({ keyPrefix }).map(({ object }) => object);
  await conversion.prepare(matches ? objects.filter(matches) : objects).catch(() => {});
}

/** Conversions may take time; events keep their order all the same, and bookmarks come after what they speak of. */
function inOrder(
  resource: Resource,
  see: Asked['see'],
  sink: WatchSink,
  end: (reason: unknown) => void,
): { show(event: Seen): void; bookmark: WatchSink['bookmark'] } {
  let pending: Promise<void> | undefined;
  const converted = async (seen: Seen | undefined) =>
    seen && { type: seen.type, found: { cached: seen.cached, object: await inVersion(resource, seen.cached) } };
  const enqueue = (turn: Promise<void>) => {
    pending = turn;
    void turn.then(() => {
      if (pending === turn) pending = undefined;
    });
  };
  return {
    show(event) {
      const seen = see(event);
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
