/**
 * Counters that webhooks keep in the status of objects, such as the number of Pods that a subset may still take.
 * Requests arrive faster than caches observe the writes of earlier ones, so the writes of this process are kept. While
 * a write to an object is in flight, further updates wait and are batched: a thousand Pods at once cause only a few
 * writes. Other processes write as well. On conflict, re-read and retry.
 */
import type { Client } from '@kruise/client/client';
import type { Caches } from '@kruise/client/informer';
import { isAtLeast, type KubernetesObject, keyOf, referenceOf } from '@kruise/client/object-key';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { after, type Clock } from '@kruise/values/clock';
import { jitter, type Random } from '@kruise/values/random';

/** The result of an update to the newest state of an object. */
export type Entry<T, R> = {
  readonly result: R;
  /** The object with the status to write. Nothing is written if it is omitted. */
  readonly object?: T;
  /** The result is valid only for the latest state, so it needs a live read first. */
  readonly isDoubtful?: boolean;
};

export type Ledger = {
  /**
   * Applies an update to the status of an object, and returns its result once it is written; undefined if the object is
   * gone. The update may run more than once: on each conflict it waits for the next of `waitsMs`, and finally fails
   * with the conflict.
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

/** Maximum number of kept writes. Caches are stale only for moments, in which far fewer objects are written. */
const mostRemembered = 1000;

/** A pending update, and the callbacks for its result. */
type Pending = {
  readonly make: (newest: unknown) => Entry<unknown, unknown> | Promise<Entry<unknown, unknown>>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** The object that is updated. */
type Account = { readonly kind: Kind; readonly found: KubernetesObject; readonly waitsMs: readonly number[] };

export function createLedger({ caches, client, clock, random }: LedgerMeans): Ledger {
  const remembered = new Map<string, KubernetesObject>();
  const waiting = new Map<string, Pending[]>();

  const remember = (uid: string, object: KubernetesObject) => {
    remembered.delete(uid);
    remembered.set(uid, object);
    const [oldest] = remembered.keys();
    if (remembered.size > mostRemembered && oldest !== undefined) remembered.delete(oldest);
  };

  /** Returns the newest of the given object, the cached one and the last write of this process. */
  const newestOf = ({ kind, found }: Account): KubernetesObject => {
    const uid = uidOf(found);
    // Objects of a kind have what all objects have.
    const shown = caches.of(kind).get(keyOf(found)) as KubernetesObject | undefined;
    const known = shown && uidOf(shown) === uid ? later(shown, found) : found;
    const written = remembered.get(uid);
    if (!written) return known;
    if (later(known, written) === written) return written;
    remembered.delete(uid);
    return known;
  };

  const ask = async ({ kind, found }: Account): Promise<KubernetesObject | undefined> => {
    try {
      const object = (await client.get(kind, referenceOf(keyOf(found)))) as KubernetesObject;
      return uidOf(object) === uidOf(found) ? object : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };

  /** Applies updates one after the other, and writes the combined result. */
  const attempt = async (account: Account, batch: readonly Pending[], isOvertaken: boolean): Promise<void> => {
    let newest = isOvertaken ? await ask(account) : newestOf(account);
    let made = await makeAll(batch, newest);
    if (made.isDoubtful && !isOvertaken) {
      newest = await ask(account);
      made = await makeAll(batch, newest);
    }
    if (made.object !== newest) {
      const options = { subresource: 'status', fieldManager: 'kruise-manager' };
      // An update of an object returns an object of its kind.
      const written = await client.update(account.kind, made.object as never, options);
      remember(uidOf(account.found), written as KubernetesObject);
    }
    for (const settle of made.settlements) settle();
  };

  const attemptUntilWritten = async (account: Account, batch: readonly Pending[]): Promise<void> => {
    for (let round = 0; ; round++) {
      try {
        return await attempt(account, batch, round > 0);
      } catch (error) {
        if (!isConflict(error) || round === account.waitsMs.length) throw error;
      }
      const waitMs = account.waitsMs[round]!;
      if (waitMs > 0) await after(clock, jitter(random, waitMs, 0.1));
    }
  };

  /** Processes pending updates, including those that arrive meanwhile. */
  const work = async (account: Account, queue: Pending[]): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.splice(0);
      try {
        await attemptUntilWritten(account, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    waiting.delete(uidOf(account.found));
  };

  return {
    enter<K extends Kind, R>(
      kind: K,
      object: ObjectOf<K>,
      make: (newest: ObjectOf<K>) => Entry<ObjectOf<K>, R> | Promise<Entry<ObjectOf<K>, R>>,
      waitsMs: readonly number[],
    ) {
      // An object of a kind has what every object has.
      const account: Account = { kind, found: object as KubernetesObject, waitsMs };
      const uid = uidOf(account.found);
      return new Promise<R | undefined>((resolve, reject) => {
        // Each update gets objects of its own kind and resolves its own result.
        const pending = { make, resolve, reject } as unknown as Pending;
        const queue = waiting.get(uid);
        if (queue) {
          queue.push(pending);
          return;
        }
        const begun = [pending];
        waiting.set(uid, begun);
        void work(account, begun);
      });
    },
  };
}

type Made = {
  /** The object with all updates; the original one if nothing changed. */
  readonly object: KubernetesObject | undefined;
  readonly isDoubtful: boolean;
  /** Callbacks that resolve the pending updates, once the object is written. */
  readonly settlements: readonly (() => void)[];
};

/** Applies updates to an object in sequence. The failure of one does not affect the others. */
async function makeAll(batch: readonly Pending[], newest: KubernetesObject | undefined): Promise<Made> {
  let object = newest;
  let isDoubtful = false;
  const settlements: (() => void)[] = [];
  for (const { make, resolve, reject } of batch) {
    if (object === undefined) {
      settlements.push(() => resolve(undefined));
      continue;
    }
    try {
      const making = make(object);
      // Awaiting only promises keeps the time short in which another writer can cause a conflict.
      const entry = making instanceof Promise ? await making : making;
      isDoubtful ||= entry.isDoubtful === true;
      // An update returns the same object with another status.
      object = (entry.object as KubernetesObject | undefined) ?? object;
      settlements.push(() => resolve(entry.result));
    } catch (error) {
      settlements.push(() => reject(error));
    }
  }
  return { object, isDoubtful, settlements };
}

function uidOf({ metadata }: KubernetesObject): string {
  return metadata.uid ?? '';
}

function later(a: KubernetesObject, b: KubernetesObject): KubernetesObject {
  return isAtLeast(a.metadata.resourceVersion, b.metadata.resourceVersion ?? '') ? a : b;
}
