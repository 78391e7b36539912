/**
 * Which events are the same, which are alike, and which are too many. The limits are those of client-go: ten alike in
 * ten minutes become one; an object has 25 events of a type at once and one in five minutes after that.
 */
import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { NewEvent } from './actions.ts';
import type { Reference } from './client.ts';
import type { KubernetesObject } from './object-key.ts';
import { type TokenBucket, tokenBucket } from './rate-limiter.ts';

/** What is to be written of an event. */
export type Correlated = {
  readonly message: string;
  readonly count: number;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  /** Where it was written before, if it was; whoever writes it notes where. */
  readonly entry: { stored?: Reference };
};

type Entry = { stored?: Reference; count: number; readonly firstAt: Instant };
/** Events of an object that differ only in what they say. */
type Group = { messages: string[]; lastAt: Instant };
/** What is remembered of an object. */
type Subject = {
  readonly groups: LeastRecent<Group>;
  readonly entries: LeastRecent<Entry>;
  readonly buckets: { [T in NewEvent['type']]?: TokenBucket };
};

const maxAlike = 10;
const alikeMs = 600_000;
const spamBurst = 25;
const spamPerSecond = 1 / 300;
/** How many objects are remembered, and how many events of each: those heard of longest ago are forgotten first. */
const maxObjects = 1024;
const maxEvents = 64;

/** Says what is to be written of each event; undefined where nothing is. */
export function createCorrelator(clock: Clock): (event: NewEvent) => Correlated | undefined {
  const subjects = leastRecent<Subject>(maxObjects);

  return ({ about, fieldPath = '', type, reason, message }) => {
    const now = clock.now();
    const { groups, entries, buckets } = subjects.get(keyOf(about), () => ({
      groups: leastRecent(maxEvents),
      entries: leastRecent(maxEvents),
      buckets: {},
    }));

    const alike = `${type} ${reason}`;
    const group = groups.get(alike, () => ({ messages: [], lastAt: now }));
    if (now - group.lastAt > alikeMs) group.messages = [];
    group.lastAt = now;
    // Those that were told one by one before stay so.
    const isKnown = group.messages.includes(message);
    const isMany = !isKnown && group.messages.length === maxAlike - 1;
    if (!isKnown && !isMany) group.messages.push(message);

    const entry = entries.get(isMany ? alike : `${alike} ${fieldPath} ${message}`, () => ({ count: 0, firstAt: now }));
    entry.count++;

    // Warnings are counted apart: what goes wrong must not go under in what goes well.
    buckets[type] ??= tokenBucket(clock, { perSecond: spamPerSecond, burst: spamBurst });
    if (!buckets[type].tryTake()) return undefined;
    return {
      message: isMany ? `(combined from similar events): ${message}` : message,
      count: entry.count,
      firstAt: entry.firstAt,
      lastAt: now,
      entry,
    };
  };
}

/** No two objects have the same uid; what has none is told apart by its name. */
function keyOf({ apiVersion, kind, metadata }: KubernetesObject): string {
  const { namespace = '', name = '', uid } = metadata;
  return uid || `${apiVersion} ${kind} ${namespace}/${name}`;
}

/** What is remembered of each key; what has not been asked for for longest is forgotten when there is too much. */
type LeastRecent<T> = { get(key: string, make: () => T): T };

function leastRecent<T>(capacity: number): LeastRecent<T> {
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
