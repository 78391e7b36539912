/**
 * Accounts that webhooks keep in the status of objects: how many more Pods a group takes, say. Requests come faster than
 * caches learn of what was written for the one before, so what this process wrote is remembered, and whoever writes to
 * an object waits for its turn. Other processes write as well: who was overtaken asks the server, and begins anew.
 */
import type { Client } from '@kruise/client/client';
import type { Caches } from '@kruise/client/informer';
import { isAtLeast, type KubernetesObject, keyOf, referenceOf } from '@kruise/client/object-key';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { after, type Clock } from '@kruise/values/clock';
import { jitter, type Random } from '@kruise/values/random';

/** What follows from the newest state of an object. */
export type Entry<T, R> = {
  readonly result: R;
  /** The object with the status to write; nothing is written where there is none. */
  readonly object?: T;
  /** The result is good only for the very newest state: the server is asked for it first. */
  readonly isDoubtful?: boolean;
};

export type Ledger = {
  /**
   * Makes an entry into the status of an object, and returns its result; undefined if the object is gone. Who is
   * overtaken waits for as long as `waitsMs` says, each time, and fails with the conflict in the end.
   */
  enter<K extends Kind, R>(
    kind: K,
    object: ObjectOf<K>,
    make: (newest: ObjectOf<K>) => Entry<ObjectOf<K>, R> | Promise<Entry<ObjectOf<K>, R>>,
    waitsMs: readonly number[],
  ): Promise<R | undefined>;
};

export type LedgerMeans = {
  readonly caches: Caches;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
};

/** Caches lag behind by moments, in which there are far fewer objects whose status is written. */
const mostRemembered = 1000;

export function createLedger({ caches, client, clock, random }: LedgerMeans): Ledger {
  const remembered = new Map<string, KubernetesObject>();
  const turns = new Map<string, Promise<unknown>>();

  const remember = (uid: string, object: KubernetesObject) => {
    remembered.delete(uid);
    remembered.set(uid, object);
    const [oldest] = remembered.keys();
    if (remembered.size > mostRemembered && oldest !== undefined) remembered.delete(oldest);
  };

  /** The newest of what was found, what caches show and what was written here. */
  const newestOf = (kind: Kind, found: KubernetesObject): KubernetesObject => {
    const { uid = '' } = found.metadata;
    // Objects of a kind have what all objects have.
    const shown = caches.of(kind).get(keyOf(found)) as KubernetesObject | undefined;
    const known = shown?.metadata.uid === uid ? later(shown, found) : found;
    const written = remembered.get(uid);
    if (!written) return known;
    if (later(known, written) === written) return written;
    remembered.delete(uid);
    return known;
  };

  const ask = async (kind: Kind, found: KubernetesObject): Promise<KubernetesObject | undefined> => {
    try {
      const object = (await client.get(kind, referenceOf(keyOf(found)))) as KubernetesObject;
      return object.metadata.uid === found.metadata.uid ? object : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };

  /** Does something when all who came before are done with it. */
  const inTurn = async <R>(uid: string, act: () => Promise<R>): Promise<R> => {
    const before = turns.get(uid) ?? Promise.resolve();
    const mine = before.then(act, act);
    turns.set(uid, mine);
    try {
      return await mine;
    } finally {
      if (turns.get(uid) === mine) turns.delete(uid);
    }
  };

  return {
    async enter(kind, object, make, waitsMs) {
      const found = object as KubernetesObject;
      const { uid = '' } = found.metadata;
      let isOvertaken = false;

      const attempt = async () => {
        let newest = isOvertaken ? await ask(kind, found) : newestOf(kind, found);
        if (!newest) return undefined;
        let entry = await make(newest as typeof object);
        if (entry.isDoubtful && !isOvertaken) {
          newest = await ask(kind, found);
          if (!newest) return undefined;
          entry = await make(newest as typeof object);
        }
        if (entry.object !== undefined) {
          const options = { subresource: 'status', fieldManager: 'kruise-manager' };
          remember(uid, (await client.update(kind, entry.object, options)) as KubernetesObject);
        }
        return entry.result;
      };

      for (let round = 0; ; round++) {
        try {
          return await inTurn(uid, attempt);
        } catch (error) {
          if (!isConflict(error) || round === waitsMs.length) throw error;
        }
        isOvertaken = true;
        const waitMs = waitsMs[round]!;
        if (waitMs > 0) await after(clock, jitter(random, waitMs, 0.1));
      }
    },
  };
}

function later(a: KubernetesObject, b: KubernetesObject): KubernetesObject {
  return isAtLeast(a.metadata.resourceVersion, b.metadata.resourceVersion ?? '') ? a : b;
}
