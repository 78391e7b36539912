/**
 * Event recorder: records Events asynchronously. A repeated event increments a count, similar events are aggregated,
 * and a spam filter limits the events of an object.
 */
import { type Event, event as eventKind } from '@kruise/api/core/event';
import { isAlreadyExists, isNotFound, StatusError } from '@kruise/machinery/status';
import { after, type Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { createDeque } from '@kruise/values/scheduling/deque';
import { formatTime } from '@kruise/values/time';
import { backgroundClient, type Client } from '../api/client.ts';
import type { KubernetesObject } from '../cache/object-key.ts';
import type { NewEvent } from './actions.ts';
import { type CorrelatedEvent, createEventCorrelator } from './event-correlator.ts';
import { isNamespaceTerminating } from './execute.ts';

/** Source of the events of a recorder. */
export type EventRecorderOptions = {
  /** Reporting component, for example `deployment-controller`. */
  readonly component: string;
  /** Host name, for components that run on a node. */
  readonly host?: string;
  readonly onError?: (error: unknown) => void;
};

/** Records Events of the group `core` asynchronously. */
export type EventRecorder = {
  /** Enqueues an event. It is written in the background, and dropped if the queue is full. */
  record(event: NewEvent): void;
  /** Resolves when all events recorded so far have been written or dropped. */
  flush(): Promise<void>;
};

/** An event with a reference instead of its object: the queue must not keep old versions of objects in memory. */
type PendingEvent = Omit<NewEvent, 'about'> & { readonly regarding: Event['involvedObject'] };

type QueuedEvent = { readonly event: PendingEvent; readonly correlated: CorrelatedEvent };

/**
 * Queue limit: large enough for the events of thousands of Pods that start at once, so that recording never delays
 * them. Further events are dropped, because Events are informational only.
 */
const maxQueuedEvents = 10_000;
const maxAttempts = 12;
const retryMs = 10_000;

/**
 * Creates a recorder that writes events until the signal is aborted.
 *
 * ```ts
 * const recorder = createEventRecorder(client, clock, random, { component: 'backup-controller' }, signal);
 * recorder.record({ about: web, type: 'Normal', reason: 'BackupStarted', message: 'Started the backup' });
 * ```
 */
export function createEventRecorder(
  client: Client,
  clock: Clock,
  random: Random,
  { component, host = '', onError = () => {} }: EventRecorderOptions,
  signal: AbortSignal,
): EventRecorder {
  const background = backgroundClient(client);
  const correlate = createEventCorrelator(clock);
  const waiting = createDeque<QueuedEvent>();
  let writing: Promise<void> | undefined;

  async function write({ event, correlated }: QueuedEvent): Promise<void> {
    const { entry, message, count, firstAt, lastAt } = correlated;
    let stored: Event | undefined;
    if (entry.stored) {
      try {
        stored = await background.patch(
          eventKind,
          entry.stored,
          { count, message, lastTimestamp: formatTime(lastAt) },
          { type: 'strategic', signal },
        );
      } catch (error) {
        // The server keeps Events for an hour; a later occurrence is created again.
        if (!isNotFound(error)) throw error;
      }
    }
    while (!stored) {
      const body = eventOf(event, { component, host, message, count, firstAt, lastAt, id: uniqueSuffix(lastAt) });
      try {
        stored = await background.create(eventKind, body, { signal });
      } catch (error) {
        // Another recorder has created an event for the same object at the same time.
        if (!isAlreadyExists(error)) throw error;
      }
    }
    const { name = '', namespace = '' } = stored.metadata;
    entry.stored = { name, namespace };
  }

  // Go uses nanoseconds for unique names; a counter replaces the digits that this clock does not have.
  let serials = 0;
  const uniqueSuffix = (at: number) =>
    (BigInt(Math.floor(at)) * 1_000_000n + BigInt(serials++ % 1_000_000)).toString(16);

  async function writeWithRetries(next: QueuedEvent): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await write(next);
        return;
      } catch (error) {
        // Events of a terminating namespace are dropped.
        if (signal.aborted || isNamespaceTerminating(error) || isNotFound(error)) return;
        // The server rejected the event; a retry would fail in the same way.
        if (error instanceof StatusError && error.code < 500 && error.code !== 429) return onError(error);
        if (attempt === maxAttempts) return onError(error);
        // The first wait has jitter, so that not all clients retry at the same time after an outage.
        await after(clock, attempt === 1 ? random.next() * retryMs : retryMs, signal).catch(() => {});
      }
    }
  }

  async function writeAll(): Promise<void> {
    for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) await writeWithRetries(next);
    writing = undefined;
  }

  return {
    record(event) {
      if (signal.aborted) return;
      // The spam filter runs first, so that one object cannot fill the queue.
      const correlated = correlate(event);
      if (correlated === undefined) return;
      if (waiting.size >= maxQueuedEvents) {
        onError(new Error(`event dropped, queue is full: ${event.reason} ${event.message}`));
        return;
      }
      waiting.push({ event: toPendingEvent(event), correlated });
      writing ??= writeAll();
    },
    flush: async () => writing,
  };
}

type EventFields = {
  readonly component: string;
  readonly host: string;
  readonly message: string;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly id: string;
};

function toPendingEvent({ about, fieldPath, type, reason, message }: NewEvent): PendingEvent {
  return { regarding: referenceTo(about, fieldPath), type, reason, message };
}

function eventOf({ regarding, type, reason }: PendingEvent, fields: EventFields): Event {
  const { name = '', namespace = 'default' } = regarding;
  const { component, host } = fields;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${fields.id}`, namespace },
    involvedObject: regarding,
    reason,
    message: fields.message,
    source: { component, ...(host === '' ? {} : { host }) },
    firstTimestamp: formatTime(fields.firstAt),
    lastTimestamp: formatTime(fields.lastAt),
    count: fields.count,
    type,
    reportingComponent: component,
    reportingInstance: host,
  };
}

type Regarding = Event['involvedObject'];

function referenceTo({ apiVersion, kind, metadata }: KubernetesObject, fieldPath: string | undefined): Regarding {
  const { namespace, name, uid, resourceVersion } = metadata;
  const reference: { -readonly [F in keyof Regarding]: Regarding[F] } = { kind };
  if (namespace !== undefined) reference.namespace = namespace;
  if (name !== undefined) reference.name = name;
  if (uid !== undefined) reference.uid = uid;
  reference.apiVersion = apiVersion;
  if (resourceVersion !== undefined) reference.resourceVersion = resourceVersion;
  if (fieldPath !== undefined) reference.fieldPath = fieldPath;
  return reference;
}
