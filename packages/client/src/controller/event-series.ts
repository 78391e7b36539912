/**
 * Event recorder for the group `events.k8s.io`, as kube-scheduler uses it: repeated events of an object become a
 * series. The second occurrence is written immediately, later ones only as a periodic update of the count. Recording is
 * asynchronous.
 */
import type { ObjectReference } from '@kruise/api/core/reference';
import { type Event, event as eventKind } from '@kruise/api/events/event';
import { isAlreadyExists, isNotFound, StatusError } from '@kruise/machinery/status';
import { after, type Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { createDeque } from '@kruise/values/scheduling/deque';
import { formatMicroTime, type Instant } from '@kruise/values/time';
import { backgroundClient, type Client } from '../api/client.ts';
import type { KubernetesObject } from '../cache/object-key.ts';

/** An event of the group `events.k8s.io` to record. */
export type NewSeriesEvent = {
  /** Object that the event is about. */
  readonly regarding: KubernetesObject;
  /** Secondary object of the event. */
  readonly related?: KubernetesObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** Action that was taken or failed, for example `Binding`. */
  readonly action: string;
  readonly note: string;
  /** Reporting controller. */
  readonly controller: string;
};

/** Source of the events of a recorder. */
export type SeriesRecorderOptions = {
  /** Host name of the reporting instance. */
  readonly host: string;
  readonly onError?: (error: unknown) => void;
};

/** Records events of the group `events.k8s.io` asynchronously. */
export type SeriesRecorder = {
  /** Enqueues an event. It is written in the background, and dropped if the queue is full. */
  record(event: NewSeriesEvent): void;
  /** Resolves when all events recorded so far have been written or dropped. */
  flush(): Promise<void>;
};

/** Queue limit; further events are dropped, because Events are informational only. */
const maxQueuedEvents = 10_000;
/** Concurrent writes: enough for a store with group commit. */
const maxConcurrentWrites = 64;
const maxAttempts = 12;
const retryMs = 10_000;
/** A series without an occurrence for this time is finished. */
const seriesTimeoutMs = 6 * 60_000;
/** Interval at which the count of an active series is written. */
const refreshMs = 30 * 60_000;
/** Cache limit of events that may be repeated; the oldest are evicted first. */
const maxEntries = 20_000;

/** An event that may be repeated. Its writes are sequential, and each contains the current count. */
type SeriesEntry = {
  event: Event;
  seenAt: Instant;
  writtenAt: Instant;
  isStored: boolean;
  state: 'resting' | 'waiting' | 'underway' | 'due again';
  /** Set if the event occurred after its last write was enqueued. */
  hasUnwrittenCount: boolean;
};

/**
 * Creates a recorder that writes events until the signal is aborted.
 *
 * ```ts
 * const series = createSeriesRecorder(client, clock, random, { host: 'node-1' }, signal);
 * ```
 */
export function createSeriesRecorder(
  client: Client,
  clock: Clock,
  random: Random,
  { host, onError = () => {} }: SeriesRecorderOptions,
  signal: AbortSignal,
): SeriesRecorder {
  const background = backgroundClient(client);
  const entriesByKey = new Map<string, SeriesEntry>();
  const waiting = createDeque<SeriesEntry>();
  const idle = new Set<() => void>();
  let writing = 0;
  let isPruningScheduled = false;
  // Go uses nanoseconds for unique names; a counter replaces the digits that this clock does not have.
  let serials = 0;

  async function write(entry: SeriesEntry): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await store(background, entry, signal);
        entry.isStored = true;
        return;
      } catch (error) {
        if (signal.aborted || isAlreadyExists(error)) return;
        // The server rejected the event; a retry would fail in the same way.
        if (error instanceof StatusError && error.code < 500 && error.code !== 429) return onError(error);
        if (attempt === maxAttempts) return onError(error);
        await after(clock, attempt === 1 ? random.next() * retryMs : retryMs, signal).catch(() => {});
      }
    }
  }

  const pump = () => {
    while (writing < maxConcurrentWrites && waiting.size > 0 && !signal.aborted) {
      const entry = waiting.shift()!;
      entry.state = 'underway';
      writing++;
      void write(entry).finally(() => {
        writing--;
        const isDueAgain = entry.state === 'due again';
        entry.state = 'resting';
        if (isDueAgain) enqueue(entry);
        pump();
      });
    }
    if (writing > 0) return;
    for (const resolve of idle) resolve();
    idle.clear();
  };

  const enqueue = (entry: SeriesEntry) => {
    entry.hasUnwrittenCount = false;
    entry.writtenAt = clock.now();
    if (entry.state === 'underway') entry.state = 'due again';
    if (entry.state !== 'resting') return;
    if (waiting.size >= maxQueuedEvents) {
      onError(new Error(`event dropped, queue is full: ${entry.event.reason} ${entry.event.note}`));
      return;
    }
    entry.state = 'waiting';
    waiting.push(entry);
    pump();
  };

  /** Removes finished series and writes the count of active ones. */
  const pruneSeries = () => {
    isPruningScheduled = false;
    const now = clock.now();
    for (const [key, entry] of entriesByKey) {
      const isOver = now - entry.seenAt >= seriesTimeoutMs;
      if (isOver) entriesByKey.delete(key);
      if (entry.hasUnwrittenCount && (isOver || now - entry.writtenAt >= refreshMs)) enqueue(entry);
    }
    schedulePruning();
  };
  const schedulePruning = () => {
    if (isPruningScheduled || entriesByKey.size === 0) return;
    isPruningScheduled = true;
    clock.setTimer(seriesTimeoutMs, pruneSeries, signal);
  };

  return {
    record(newEvent) {
      if (signal.aborted) return;
      const now = clock.now();
      const regarding = referenceTo(newEvent.regarding);
      const related = newEvent.related && referenceTo(newEvent.related);
      const key = JSON.stringify([
        newEvent.type,
        newEvent.reason,
        newEvent.action,
        newEvent.controller,
        regarding,
        related,
      ]);
      const known = entriesByKey.get(key);
      if (!known) {
        const id = (BigInt(Math.floor(now)) * 1_000_000n + BigInt(serials++ % 1_000_000)).toString(16);
        const event = eventOf(newEvent, { regarding, related, host, id, now });
        const entry: SeriesEntry = {
          event,
          seenAt: now,
          writtenAt: now,
          isStored: false,
          state: 'resting',
          hasUnwrittenCount: false,
        };
        entriesByKey.set(key, entry);
        if (entriesByKey.size > maxEntries) entriesByKey.delete(entriesByKey.keys().next().value!);
        schedulePruning();
        enqueue(entry);
        return;
      }
      const { series } = known.event;
      known.seenAt = now;
      known.event = {
        ...known.event,
        series: { count: (series?.count ?? 1) + 1, lastObservedTime: formatMicroTime(now) },
      };
      if (series) known.hasUnwrittenCount = true;
      else enqueue(known);
    },
    flush: () =>
      new Promise((resolve) => {
        if (writing === 0) return resolve();
        idle.add(resolve);
      }),
  };
}

async function store(client: Client, { event, isStored }: SeriesEntry, signal: AbortSignal): Promise<void> {
  if (isStored) {
    const { name = '', namespace = '' } = event.metadata;
    try {
      await client.patch(eventKind, { name, namespace }, { series: event.series }, { type: 'strategic', signal });
      return;
    } catch (error) {
      // The server keeps Events for an hour; a later occurrence is created again.
      if (!isNotFound(error)) throw error;
    }
  }
  await client.create(eventKind, event, { signal });
}

type EventFields = {
  readonly regarding: ObjectReference;
  readonly related: ObjectReference | undefined;
  readonly host: string;
  readonly id: string;
  readonly now: Instant;
};

function eventOf(newEvent: NewSeriesEvent, { regarding, related, host, id, now }: EventFields): Event {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `${regarding.name}.${id}`, namespace: regarding.namespace || 'default' },
    eventTime: formatMicroTime(now),
    reportingController: newEvent.controller,
    reportingInstance: `${newEvent.controller}-${host}`,
    action: newEvent.action,
    reason: newEvent.reason,
    regarding,
    ...(related ? { related } : {}),
    note: newEvent.note,
    type: newEvent.type,
  };
}

function referenceTo({ apiVersion, kind, metadata }: KubernetesObject): ObjectReference {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata;
  return { kind, namespace, name, uid, apiVersion, resourceVersion };
}
