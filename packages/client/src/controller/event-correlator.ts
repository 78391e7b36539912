/**
 * Event correlation: deduplication, aggregation and spam filtering with the limits of client-go. Ten similar events in
 * ten minutes are aggregated into one; an object has a burst of 25 events per type and then one every five minutes.
 */
import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { Reference } from '../api/client.ts';
import type { KubernetesObject } from '../cache/object-key.ts';
import type { NewEvent } from './actions.ts';
import { type TokenBucket, tokenBucket } from './rate-limiter.ts';

/** An event after correlation, ready to be written. */
export type CorrelatedEvent = {
  readonly message: string;
  readonly count: number;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  /** Cache entry of the event. The writer sets `stored` to the stored Event, so that the next occurrence is a patch. */
  readonly entry: { stored?: Reference };
};

type Entry = { stored?: Reference; count: number; readonly firstAt: Instant };
/** Similar events: they differ only in their message. */
type Group = { messages: string[]; lastAt: Instant };
/** Cached events of an object. */
type ObjectEvents = {
  readonly groups: LruCache<Group>;
  readonly entries: LruCache<Entry>;
  readonly buckets: { [T in NewEvent['type']]?: TokenBucket };
};

const maxSimilarEvents = 10;
const aggregateIntervalMs = 600_000;
const spamBurst = 25;
const spamPerSecond = 1 / 300;
/** Cache limits: objects, and events per object. The least recently used are evicted first. */
const maxObjects = 1024;
const maxEvents = 64;

/** Creates a function that correlates each event; it returns undefined if the spam filter drops the event. */
export function createEventCorrelator(clock: Clock): (event: NewEvent) => CorrelatedEvent | undefined {
  const eventsByObject = createLruCache<ObjectEvents>(maxObjects);

  return ({ about, fieldPath = '', type, reason, message }) => {
    const now = clock.now();
    const { groups, entries, buckets } = eventsByObject.get(keyOf(about), () => ({
      groups: createLruCache(maxEvents),
      entries: createLruCache(maxEvents),
      buckets: {},
    }));

    const aggregateKey = `${type} ${reason}`;
    const group = groups.get(aggregateKey, () => ({ messages: [], lastAt: now }));
    if (now - group.lastAt > aggregateIntervalMs) group.messages = [];
    group.lastAt = now;
    // Messages that were recorded separately before stay separate.
    const isKnown = group.messages.includes(message);
    const isAggregated = !isKnown && group.messages.length === maxSimilarEvents - 1;
    if (!isKnown && !isAggregated) group.messages.push(message);

    const entry = entries.get(isAggregated ? aggregateKey : `${aggregateKey} ${fieldPath} ${message}`, () => ({
      count: 0,
      firstAt: now,
    }));
    entry.count++;

    // Warnings have their own token bucket, so that many normal events do not suppress them.
    buckets[type] ??= tokenBucket(clock, { perSecond: spamPerSecond, burst: spamBurst });
    if (!buckets[type].tryTake()) return undefined;
    return {
      message: isAggregated ? `(combined from similar events): ${message}` : message,
      count: entry.count,
      firstAt: entry.firstAt,
      lastAt: now,
      entry,
    };
  };
}

/** Objects are identified by uid; objects without uid by kind and name. */
function keyOf({ apiVersion, kind, metadata }: KubernetesObject): string {
  const { namespace = '', name = '', uid } = metadata;
  return uid || `${apiVersion} ${kind} ${namespace}/${name}`;
}

/** Cache that evicts the least recently used entry. */
type LruCache<T> = { get(key: string, make: () => T): T };

function createLruCache<T>(capacity: number): LruCache<T> {
  const map = new Map<string, T>();
  return {
    get(key, make) {
      let found = map.get(key);
      if (found === undefined) {
        found = make();
        if (map.size === capacity) map.delete(map.keys().next().value!);
      } else map.delete(key);
      map.set(key, found);
      return found;
    },
  };
}
