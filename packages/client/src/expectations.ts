/**
 * Expectations: writes of a controller that its caches do not show yet. A controller must not decide before they are
 * satisfied, or it would repeat its own writes, for example create a second Pod because the first is not in the cache.
 *
 * No events are counted. The response of the server contains the resourceVersion that was written, and the cache knows
 * the resourceVersion it has reached, so an event that arrives before the response does no harm. If the response was
 * lost, a live read determines the state before the next decision.
 */
import type { Clock } from '@kruise/values/clock';
import type { Informer } from './informer.ts';
import { isAtLeast, type Key, type KubernetesObject, keyOf } from './object-key.ts';

/** The part of an informer that shows whether its cache has observed a write. */
export type Witness = Pick<Informer<KubernetesObject>, 'get' | 'hasReached' | 'ask'>;

/** Expectations of an owner that are not satisfied yet. */
export type Outstanding = {
  /** Number of objects. */
  readonly count: number;
  /** Age of the oldest expectation. */
  readonly waitedMs: number;
  /** Set if the oldest expectation has timed out, so that waiting longer does not help. */
  readonly isOverdue: boolean;
};

/** Expectations by owner. */
export type Expectations = {
  /** Expects to observe a created or changed object in this version or a later one. */
  expectVersion(owner: Key, witness: Witness, object: KubernetesObject): void;
  /** Expects to observe a deleted object as terminating or gone. */
  expectDeletion(owner: Key, witness: Witness, object: KubernetesObject): void;
  /**
   * Expects to observe that an object is gone. Terminating is not enough: the object may have been terminating before.
   */
  expectEnd(owner: Key, witness: Witness, object: KubernetesObject): void;
  /** Records a write whose result is unknown. */
  doubt(owner: Key, witness: Witness, object: KubernetesObject): void;
  /**
   * Reads all objects with an unknown write result live and expects to observe them. Returns undefined if there are
   * none. Rejects if the server does not respond; the results are then still unknown.
   */
  settle(owner: Key): Promise<void> | undefined;
  /** Returns the expectations that are not satisfied yet; undefined if the caches are up to date. */
  outstanding(owner: Key): Outstanding | undefined;
  /** Deletes the expectations of an owner. */
  forget(owner: Key): void;
};

type Expected = { readonly since: number; readonly isSeen: () => boolean };
type Doubt = { readonly witness: Witness; readonly object: KubernetesObject };

/**
 * Creates empty expectations.
 *
 * ```ts
 * const created = await client.create(pod, podFor(job));
 * expectations.expectVersion(keyOf(job), caches.informer(pod), created);
 * if (expectations.unsatisfied(keyOf(job))) return; // the cache is stale
 * ```
 */
export function createExpectations(clock: Clock, { timeoutMs = 300_000 } = {}): Expectations {
  const byOwner = new Map<Key, Map<string, Expected>>();
  const doubts = new Map<Key, Doubt[]>();

  const expect = (owner: Key, id: string, isSeen: () => boolean) => {
    let expected = byOwner.get(owner);
    if (!expected) byOwner.set(owner, (expected = new Map()));
    expected.set(id, { since: clock.elapsedMs(), isSeen });
  };

  async function settleAll(owner: Key, open: Doubt[]): Promise<void> {
    // Sequential: if the server does not respond to the first read, the others are not sent.
    for (let doubt = open[0]; doubt !== undefined; doubt = open[0]) {
      const { witness, object } = doubt;
      const found = await witness.ask(keyOf(object));
      open.shift();
      if (found) expectations.expectVersion(owner, witness, found);
      else expectations.expectEnd(owner, witness, object);
    }
    doubts.delete(owner);
  }

  const expectations: Expectations = {
    expectVersion(owner, witness, object) {
      const key = keyOf(object);
      const { resourceVersion = '', uid = key } = object.metadata;
      expect(
        owner,
        `version of ${uid}`,
        () =>
          witness.hasReached(resourceVersion) || isAtLeast(witness.get(key)?.metadata.resourceVersion, resourceVersion),
      );
    },
    expectDeletion(owner, witness, object) {
      const key = keyOf(object);
      const { uid } = object.metadata;
      expect(owner, `deletion of ${uid ?? key}`, () => {
        const seen = witness.get(key);
        return seen === undefined || seen.metadata.uid !== uid || seen.metadata.deletionTimestamp != null;
      });
    },
    expectEnd(owner, witness, object) {
      const key = keyOf(object);
      const { uid } = object.metadata;
      expect(owner, `end of ${uid ?? key}`, () => {
        const seen = witness.get(key);
        return seen === undefined || seen.metadata.uid !== uid;
      });
    },
    doubt(owner, witness, object) {
      const open = doubts.get(owner);
      if (open) open.push({ witness, object });
      else doubts.set(owner, [{ witness, object }]);
    },
    settle(owner) {
      const open = doubts.get(owner);
      return open && settleAll(owner, open);
    },
    outstanding(owner) {
      const expected = byOwner.get(owner);
      if (!expected) return undefined;
      let oldest = Number.POSITIVE_INFINITY;
      for (const [id, { since, isSeen }] of expected) {
        if (isSeen()) expected.delete(id);
        else oldest = Math.min(oldest, since);
      }
      if (expected.size === 0) {
        byOwner.delete(owner);
        return undefined;
      }
      const waitedMs = clock.elapsedMs() - oldest;
      return { count: expected.size, waitedMs, isOverdue: waitedMs >= timeoutMs };
    },
    forget(owner) {
      byOwner.delete(owner);
      doubts.delete(owner);
    },
  };
  return expectations;
}
