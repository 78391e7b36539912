/**
 * Which events are the same, which are alike, and which are too many. The limits are those of client-go: ten alike in
 * ten minutes become one; an object has 25 events of a type at once and one in five minutes after that.
 */
import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { NewEvent } from './actions.ts';
import type { Reference } from './client.ts';
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
type Group = { messages: Set<string>; lastAt: Instant };

const maxAlike = 10;
const alikeMs = 600_000;
const spamBurst = 25;
const spamPerSecond = 1 / 300;
/** How many of each are remembered: those heard of longest ago are forgotten first. */
const maxRemembered = 4096;

/** Says what is to be written of each event; undefined where nothing is. */
export function createCorrelator(
  clock: Clock,
  { source }: { readonly source: string },
): (event: NewEvent) => Correlated | undefined {
  const entries = leastRecent<Entry>(maxRemembered);
  const groups = leastRecent<Group>(maxRemembered);
  const buckets = leastRecent<TokenBucket>(maxRemembered);

  return ({ about, fieldPath = '', type, reason, message }) => {
    const now = clock.now();
    const { namespace = '', name = '', uid = '' } = about.metadata;
    const object = [source, about.apiVersion, about.kind, namespace, name, uid].join('\n');

    const alike = [object, type, reason].join('\n');
    let group = groups.get(alike);
    if (!group || now - group.lastAt > alikeMs) group = { messages: new Set(), lastAt: now };
    group.lastAt = now;
    groups.set(alike, group);
    group.messages.add(message);
    const isMany = group.messages.size >= maxAlike;
    // Those that were told one by one before stay so.
    if (isMany) group.messages.delete(message);

    const id = isMany ? alike : [alike, fieldPath, message].join('\n');
    const entry = entries.get(id) ?? { count: 0, firstAt: now };
    entry.count++;
    entries.set(id, entry);

    // Warnings are counted apart: what goes wrong must not go under in what goes well.
    const kind = [object, type].join('\n');
    const bucket = buckets.get(kind) ?? tokenBucket(clock, { perSecond: spamPerSecond, burst: spamBurst });
    buckets.set(kind, bucket);
    if (!bucket.tryTake()) return undefined;
    return {
      message: isMany ? `(combined from similar events): ${message}` : message,
      count: entry.count,
      firstAt: entry.firstAt,
      lastAt: now,
      entry,
    };
  };
}

/** A map that forgets what has not been set for longest when it is full. */
function leastRecent<T>(capacity: number): { get(key: string): T | undefined; set(key: string, value: T): void } {
  const map = new Map<string, T>();
  return {
    get: (key) => map.get(key),
    set(key, value) {
      map.delete(key);
      map.set(key, value);
      if (map.size > capacity) map.delete(map.keys().next().value!);
    },
  };
}
