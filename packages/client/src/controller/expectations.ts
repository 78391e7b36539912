/**
 * Expectations: writes of a controller that its caches do not show yet. A controller must not decide before they are
 * satisfied, or it would repeat its own writes, for example create a second Pod because the first is not in the cache.
 *
 * No events are counted. The response of the server contains the resourceVersion that was written, and the cache knows
 * the resourceVersion it has reached, so an event that arrives before the response does no harm. If the response was
 * lost, a live read determines the state before the next decision.
 */
import type { Clock } from '@kruise/values/clock';
import type { Informer } from '../cache/informer.ts';
import { isVersionAtLeast, type Key, type KubernetesObject, keyOf } from '../cache/object-key.ts';

/** The part of an informer that shows whether its cache has observed a write. */
export type ObservedCache = Pick<Informer<KubernetesObject>, 'get' | 'hasReached' | 'getLive'>;

/** Expectations of an owner that are not satisfied yet. */
export type UnsatisfiedExpectations = {
  /** Number of objects. */
  readonly count: number;
  /** Age of the oldest expectation. */
  readonly waitedMs: number;
  /** Set if the oldest expectation has timed out, so that waiting longer does not help. */
  readonly isTimedOut: boolean;
};

/** Expectations by owner. */
export type Expectations = {
  /** Expects to observe a created or changed object in this version or a later one. */
  expectVersion(owner: Key, cache: ObservedCache, object: KubernetesObject): void;
  /** Expects to observe a deleted object as terminating or gone. */
  expectDeletion(owner: Key, cache: ObservedCache, object: KubernetesObject): void;
  /**
   * Expects to observe that an object is gone. Terminating is not enough: the object may have been terminating before.
   */
  expectGone(owner: Key, cache: ObservedCache, object: KubernetesObject): void;
  /** Records a write whose result is unknown. */
  uncertainWrite(owner: Key, cache: ObservedCache, object: KubernetesObject): void;
  /**
   * Reads all objects with an unknown write result live and expects to observe them. Returns undefined if there are
   * none. Rejects if the server does not respond; the results are then still unknown.
   */
  resolveUncertain(owner: Key): Promise<void> | undefined;
  /** Returns the expectations that are not satisfied yet; undefined if the caches are up to date. */
  unsatisfied(owner: Key): UnsatisfiedExpectations | undefined;
  /** Deletes the expectations of an owner. */
  forget(owner: Key): void;
};

type Expectation = { readonly since: number; readonly isSatisfied: () => boolean };
type UncertainWrite = { readonly cache: ObservedCache; readonly object: KubernetesObject };

/**
 * Creates empty expectations.
 *
 * ```ts
 * const created = await client.create(pod, podFromTemplate(set, template));
 * expectations.expectVersion(keyOf(set), caches.informer(pod), created);
 * const isStale = expectations.unsatisfied(keyOf(set)) !== undefined;
 * ```
 */
export function createExpectations(clock: Clock, { timeoutMs = 300_000 } = {}): Expectations {
  const byOwner = new Map<Key, Map<string, Expectation>>();
  const uncertainWrites = new Map<Key, UncertainWrite[]>();

  const expect = (owner: Key, id: string, isSatisfied: () => boolean) => {
    let expected = byOwner.get(owner);
    if (!expected) byOwner.set(owner, (expected = new Map()));
    expected.set(id, { since: clock.elapsedMs(), isSatisfied });
  };

  async function resolveAll(owner: Key, open: UncertainWrite[]): Promise<void> {
    // Sequential: if the server does not respond to the first read, the others are not sent.
    for (let uncertainWrite = open[0]; uncertainWrite !== undefined; uncertainWrite = open[0]) {
      const { cache, object } = uncertainWrite;
      const found = await cache.getLive(keyOf(object));
      open.shift();
      if (found) expectations.expectVersion(owner, cache, found);
      else expectations.expectGone(owner, cache, object);
    }
    uncertainWrites.delete(owner);
  }

  const expectations: Expectations = {
    expectVersion(owner, cache, object) {
      const key = keyOf(object);
      const { resourceVersion = '', uid = key } = object.metadata;
      expect(
        owner,
        `version of ${uid}`,
        () =>
          cache.hasReached(resourceVersion) ||
          isVersionAtLeast(cache.get(key)?.metadata.resourceVersion, resourceVersion),
      );
    },
    expectDeletion(owner, cache, object) {
      const key = keyOf(object);
      const { uid } = object.metadata;
      expect(owner, `deletion of ${uid ?? key}`, () => {
        const seen = cache.get(key);
        return seen === undefined || seen.metadata.uid !== uid || seen.metadata.deletionTimestamp != null;
      });
    },
    expectGone(owner, cache, object) {
      const key = keyOf(object);
      const { uid } = object.metadata;
      expect(owner, `end of ${uid ?? key}`, () => {
        const seen = cache.get(key);
        return seen === undefined || seen.metadata.uid !== uid;
      });
    },
    uncertainWrite(owner, cache, object) {
      const open = uncertainWrites.get(owner);
      if (open) open.push({ cache, object });
      else uncertainWrites.set(owner, [{ cache, object }]);
    },
    resolveUncertain(owner) {
      const open = uncertainWrites.get(owner);
      return open && resolveAll(owner, open);
    },
    unsatisfied(owner) {
      const expected = byOwner.get(owner);
      if (!expected) return undefined;
      let oldest = Number.POSITIVE_INFINITY;
      for (const [id, { since, isSatisfied }] of expected) {
        if (isSatisfied()) expected.delete(id);
        else oldest = Math.min(oldest, since);
      }
      if (expected.size === 0) {
        byOwner.delete(owner);
        return undefined;
      }
      const waitedMs = clock.elapsedMs() - oldest;
      return { count: expected.size, waitedMs, isTimedOut: waitedMs >= timeoutMs };
    },
    forget(owner) {
      byOwner.delete(owner);
      uncertainWrites.delete(owner);
    },
  };
  return expectations;
}
