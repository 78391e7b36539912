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
import { formatMicroTime, type Instant } from '@kruise/values/time';
import { type Client, inBackground } from './client.ts';
import { createDeque } from './deque.ts';
import type { KubernetesObject } from './object-key.ts';

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
const maxWaiting = 10_000;
/** Concurrent writes: enough for a store with group commit. */
const maxWriting = 64;
const maxAttempts = 12;
const retryMs = 10_000;
/** A series without an occurrence for this time is finished. */
const finishMs = 6 * 60_000;
/** Interval at which the count of an active series is written. */
const refreshMs = 30 * 60_000;
/** Cache limit of events that may be repeated; the oldest are evicted first. */
const maxRemembered = 20_000;

/** An event that may be repeated. Its writes are sequential, and each contains the current count. */
type Remembered = {
  event: Event;
  seenAt: Instant;
  writtenAt: Instant;
  isStored: boolean;
  state: 'resting' | 'waiting' | 'underway' | 'due again';
  /** Set if the event occurred after its last write was enqueued. */
  isBehind: boolean;
};

/** Creates a recorder that writes events until the signal is aborted. */
export function createSeriesRecorder(
  client: Client,
  clock: Clock,
  random: Random,
  { host, onError = () => {} }: SeriesRecorderOptions,
  signal: AbortSignal,
): SeriesRecorder {
  const background = inBackground(client);
  const remembered = new Map<string, Remembered>();
  const waiting = createDeque<Remembered>();
  const idle = new Set<() => void>();
  let writing = 0;
  let isTidying = false;
  // Go uses nanoseconds for unique names; a counter replaces the digits that this clock does not have.
  let serials = 0;

  async function write(entry: Remembered): Promise<void> {
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
    while (writing < maxWriting && waiting.size > 0 && !signal.aborted) {
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

  const enqueue = (entry: Remembered) => {
    entry.isBehind = false;
    entry.writtenAt = clock.now();
    if (entry.state === 'underway') entry.state = 'due again';
    if (entry.state !== 'resting') return;
    if (waiting.size >= maxWaiting) {
      onError(new Error(`event dropped, queue is full: ${entry.event.reason} ${entry.event.note}`));
      return;
    }
    entry.state = 'waiting';
    waiting.push(entry);
    pump();
  };

  /** Removes finished series and writes the count of active ones. */
  const tidy = () => {
    isTidying = false;
    const now = clock.now();
    for (const [key, entry] of remembered) {
      const isOver = now - entry.seenAt >= finishMs;
      if (isOver) remembered.delete(key);
      if (entry.isBehind && (isOver || now - entry.writtenAt >= refreshMs)) enqueue(entry);
    }
    tidyLater();
  };
  const tidyLater = () => {
    if (isTidying || remembered.size === 0) return;
    isTidying = true;
    clock.setTimer(finishMs, tidy, signal);
  };

  return {
    record(told) {
      if (signal.aborted) return;
      const now = clock.now();
      const regarding = referenceTo(told.regarding);
      const related = told.related && referenceTo(told.related);
      const key = JSON.stringify([told.type, told.reason, told.action, told.controller, regarding, related]);
      const known = remembered.get(key);
      if (!known) {
        const id = (BigInt(Math.floor(now)) * 1_000_000n + BigInt(serials++ % 1_000_000)).toString(16);
        const event = eventOf(told, { regarding, related, host, id, now });
        const entry: Remembered = {
          event,
          seenAt: now,
          writtenAt: now,
          isStored: false,
          state: 'resting',
          isBehind: false,
        };
        remembered.set(key, entry);
        if (remembered.size > maxRemembered) remembered.delete(remembered.keys().next().value!);
        tidyLater();
        enqueue(entry);
        return;
      }
      const { series } = known.event;
      known.seenAt = now;
      known.event = {
        ...known.event,
        series: { count: (series?.count ?? 1) + 1, lastObservedTime: formatMicroTime(now) },
      };
      if (series) known.isBehind = true;
      else enqueue(known);
    },
    flush: () =>
      new Promise((resolve) => {
        if (writing === 0) return resolve();
        idle.add(resolve);
      }),
  };
}

async function store(client: Client, { event, isStored }: Remembered, signal: AbortSignal): Promise<void> {
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

type Facts = {
  readonly regarding: ObjectReference;
  readonly related: ObjectReference | undefined;
  readonly host: string;
  readonly id: string;
  readonly now: Instant;
};

function eventOf(told: NewSeriesEvent, { regarding, related, host, id, now }: Facts): Event {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `${regarding.name}.${id}`, namespace: regarding.namespace || 'default' },
    eventTime: formatMicroTime(now),
    reportingController: told.controller,
    reportingInstance: `${told.controller}-${host}`,
    action: told.action,
    reason: told.reason,
    regarding,
    ...(related ? { related } : {}),
    note: told.note,
    type: told.type,
  };
}

function referenceTo({ apiVersion, kind, metadata }: KubernetesObject): ObjectReference {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata;
  return { kind, namespace, name, uid, apiVersion, resourceVersion };
}
