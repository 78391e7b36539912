/**
 * Accounts that webhooks keep in the status of objects: how many more Pods a group takes, say. Requests come faster than
 * caches learn of what was written for the one before, so what this process wrote is remembered. While one write to an
 * object is under way the next entries wait, and are written together: a thousand Pods at once are a few writes. Other
 * processes write as well: who was overtaken asks the server, and begins anew.
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
   * Makes an entry into the status of an object, and returns its result once that is written; undefined if the object
   * is gone. It may be made more than once: who is overtaken waits for as long as `waitsMs` says, each time, and fails
   * with the conflict in the end.
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

/** An entry to be made, and who waits for its result. */
type Pending = {
  readonly make: (newest: unknown) => Entry<unknown, unknown> | Promise<Entry<unknown, unknown>>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** The object that entries are made into. */
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

  /** The newest of what was found, what caches show and what was written here. */
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

  /** Makes entries one after the other, and writes what has come of all of them. */
  const attempt = async (account: Account, batch: readonly Pending[], isOvertaken: boolean): Promise<void> => {
    let newest = isOvertaken ? await ask(account) : newestOf(account);
    let made = await makeAll(batch, newest);
    if (made.isDoubtful && !isOvertaken) {
      newest = await ask(account);
      made = await makeAll(batch, newest);
    }
    if (made.object !== newest) {
      const options = { subresource: 'status', fieldManager: 'kruise-manager' };
      // What entries make of an object is an object of its kind.
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

  /** Works through what waits, and what comes meanwhile. */
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
        // Each is handed objects of its own kind, and its own result.
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
  /** The object with all that was entered; the one that was there if that is nothing. */
  readonly object: KubernetesObject | undefined;
  readonly isDoubtful: boolean;
  /** What to tell those who wait, once it is written. */
  readonly settlements: readonly (() => void)[];
};

/** Makes entries into an object, each into what the one before has made of it. One that fails concerns nobody else. */
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
      // The longer it takes the likelier it is that somebody else writes meanwhile.
      const entry = making instanceof Promise ? await making : making;
      isDoubtful ||= entry.isDoubtful === true;
      // What an entry makes of an object is that object with another status.
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
