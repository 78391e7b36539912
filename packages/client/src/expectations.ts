/**
 * What a controller has written and not yet seen in its caches. Whoever decides by what the caches say must wait for
 * it, or would do again what is done already: make a second Pod because the first has not come into sight.
 *
 * Nothing is counted and no event is needed: the server's answer says which version was written, and the cache says how
 * far it has got. So an event that comes before the answer does no harm. Where no answer came, the server is asked what
 * there is now, before anything else is decided.
 */
import type { Clock } from '@kruise/values/clock';
import type { Informer } from './informer.ts';
import { isAtLeast, type Key, type KubernetesObject, keyOf } from './object-key.ts';

/** As much of an informer as it takes to know whether it has seen something. */
export type Witness = Pick<Informer<KubernetesObject>, 'get' | 'hasReached' | 'ask'>;

/** What is not in sight yet. */
export type Outstanding = {
  /** How many objects. */
  readonly count: number;
  /** For how long the first of them has been waited for. */
  readonly waitedMs: number;
  /** Whether that is too long: something is amiss, and waiting on will not help. */
  readonly isOverdue: boolean;
};

/** What is expected on behalf of each owner. */
export type Expectations = {
  /** An object was created or changed, and is to be seen in this version or a later one. */
  expectVersion(owner: Key, witness: Witness, object: KubernetesObject): void;
  /** An object was deleted, and is to be seen on its way out or not at all. */
  expectDeletion(owner: Key, witness: Witness, object: KubernetesObject): void;
  /** The server does not have an object any more. That it is on its way out, as it may long have been, is not enough. */
  expectEnd(owner: Key, witness: Witness, object: KubernetesObject): void;
  /** A write was sent, and nobody knows whether it was done. */
  doubt(owner: Key, witness: Witness, object: KubernetesObject): void;
  /**
   * Asks the server what became of all that is in doubt, which is then to be seen; undefined if nothing is. Rejects if
   * there is no answer: then it is still in doubt.
   */
  settle(owner: Key): Promise<void> | undefined;
  /** What is still to be seen; undefined if the caches know everything. */
  outstanding(owner: Key): Outstanding | undefined;
  /** Expects nothing more for an owner. */
  forget(owner: Key): void;
};

type Expected = { readonly since: number; readonly isSeen: () => boolean };
type Doubt = { readonly witness: Witness; readonly object: KubernetesObject };

/**
 * Nothing expected yet.
 *
 * ```ts
 * const created = await client.create(pod, podFor(job));
 * expectations.expectVersion(keyOf(job), caches.informer(pod), created);
 * if (expectations.outstanding(keyOf(job))) return; // too early to decide
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
    // One after the other: a server that does not answer the first is not asked for the rest.
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
