/**
 * Records Events without ever making anyone wait. The same event again is counted, not written anew; many that differ
 * only in their message become one; and an object that is told about without end is told about seldom.
 */
import { type Event, event as eventKind } from '@kruise/api/core/event';
import { isAlreadyExists, isNotFound, StatusError } from '@kruise/machinery/status';
import { after, type Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { formatTime } from '@kruise/values/time';
import type { NewEvent } from './actions.ts';
import { type Client, inBackground } from './client.ts';
import { createDeque } from './deque.ts';
import { type Correlated, createCorrelator } from './event-correlator.ts';
import { isNamespaceTerminating } from './execute.ts';
import type { KubernetesObject } from './object-key.ts';

/** Who records. */
export type EventRecorderOptions = {
  /** Who reports: `deployment-controller`. */
  readonly component: string;
  /** On which machine, where that matters. */
  readonly host?: string;
  readonly onError?: (error: unknown) => void;
};

/** Records events. */
export type EventRecorder = {
  /** Notes an event; it is written when there is time, and dropped where there are too many. */
  record(event: NewEvent): void;
  /** Resolves when all that was noted so far has been written or given up. */
  flush(): Promise<void>;
};

/** An event without the object it is about, of which it would keep a version alive that nobody else has any more. */
type Told = Omit<NewEvent, 'about'> & { readonly regarding: Event['involvedObject'] };

type Waiting = { readonly told: Told; readonly correlated: Correlated };

/**
 * Events that wait to be written: as many as there are where thousands of Pods start at once, which are not to be late
 * for what is told of them. What comes on top is dropped, as it is only for people to read.
 */
const maxWaiting = 10_000;
const maxAttempts = 12;
const retryMs = 10_000;

/** A recorder that writes through a client until the signal is aborted. */
export function createEventRecorder(
  client: Client,
  clock: Clock,
  random: Random,
  { component, host = '', onError = () => {} }: EventRecorderOptions,
  signal: AbortSignal,
): EventRecorder {
  const background = inBackground(client);
  const correlate = createCorrelator(clock);
  const waiting = createDeque<Waiting>();
  let writing: Promise<void> | undefined;

  async function write({ told, correlated }: Waiting): Promise<void> {
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
        // Events are kept for an hour; what happens again after that is written again.
        if (!isNotFound(error)) throw error;
      }
    }
    while (!stored) {
      const body = eventOf(told, { component, host, message, count, firstAt, lastAt, id: serial(lastAt) });
      try {
        stored = await background.create(eventKind, body, { signal });
      } catch (error) {
        // Another recorder, which counts as well, tells of the same object at the same time.
        if (!isAlreadyExists(error)) throw error;
      }
    }
    const { name = '', namespace = '' } = stored.metadata;
    entry.stored = { name, namespace };
  }

  // Go takes nanoseconds for a name that nothing else has; here a counter stands for what the clock cannot tell.
  let serials = 0;
  const serial = (at: number) => (BigInt(Math.floor(at)) * 1_000_000n + BigInt(serials++ % 1_000_000)).toString(16);

  async function writeWithRetries(next: Waiting): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await write(next);
        return;
      } catch (error) {
        // Whoever deletes a namespace does not want to know what becomes of what was in it.
        if (signal.aborted || isNamespaceTerminating(error) || isNotFound(error)) return;
        // The server has understood and refused; asking again changes nothing.
        if (error instanceof StatusError && error.code < 500 && error.code !== 429) return onError(error);
        if (attempt === maxAttempts) return onError(error);
        // The first wait differs, so that not all come back at once after an outage.
        await after(clock, attempt === 1 ? random.next() * retryMs : retryMs, signal).catch(() => {});
      }
    }
  }

  async function writeAll(): Promise<void> {
    for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) await writeWithRetries(next);
    writing = undefined;
  }

  return {
    record(told) {
      if (signal.aborted) return;
      // What is too much of one object must not take the place of what there is to tell of others.
      const correlated = correlate(told);
      if (correlated === undefined) return;
      if (waiting.size >= maxWaiting) {
        onError(new Error(`an event was dropped: ${told.reason} ${told.message}`));
        return;
      }
      waiting.push({ told: toldOf(told), correlated });
      writing ??= writeAll();
    },
    flush: async () => writing,
  };
}

type Facts = {
  readonly component: string;
  readonly host: string;
  readonly message: string;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly id: string;
};

function toldOf({ about, fieldPath, type, reason, message }: NewEvent): Told {
  return { regarding: referenceTo(about, fieldPath), type, reason, message };
}

function eventOf({ regarding, type, reason }: Told, facts: Facts): Event {
  const { name = '', namespace = 'default' } = regarding;
  const { component, host } = facts;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${facts.id}`, namespace },
    involvedObject: regarding,
    reason,
    message: facts.message,
    source: { component, ...(host === '' ? {} : { host }) },
    firstTimestamp: formatTime(facts.firstAt),
    lastTimestamp: formatTime(facts.lastAt),
    count: facts.count,
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
