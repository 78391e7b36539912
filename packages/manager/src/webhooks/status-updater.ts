/**
 * Counters that webhooks keep in the status of objects, such as the number of Pods that a subset may still take.
 * Requests arrive faster than caches observe the writes of earlier ones, so the writes of this process are kept. While
 * a write to an object is in flight, further updates wait and are batched: a thousand Pods at once cause only a few
 * writes. Other processes write as well. On conflict, re-read and retry.
 */
import type { Client } from '@kruise/client/client';
import type { Caches } from '@kruise/client/informer';
import { isVersionAtLeast, type KubernetesObject, keyOf, referenceOf } from '@kruise/client/object-key';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { after, type Clock } from '@kruise/values/clock';
import { jitter, type Random } from '@kruise/values/random';

/** The result of an update to the newest state of an object. */
export type StatusUpdate<T, R> = {
  readonly result: R;
  /** The object with the status to write. Nothing is written if it is omitted. */
  readonly object?: T;
  /** The result is valid only for the latest state, so it needs a live read first. */
  readonly needsLiveRead?: boolean;
};

export type StatusUpdater = {
  /**
   * Applies an update to the status of an object, and returns its result once it is written; undefined if the object is
   * gone. The update may run more than once: on each conflict it waits for the next of `waitsMs`, and finally fails
   * with the conflict.
   */
  update<K extends Kind, R>(
    kind: K,
    object: ObjectOf<K>,
    apply: (newest: ObjectOf<K>) => StatusUpdate<ObjectOf<K>, R> | Promise<StatusUpdate<ObjectOf<K>, R>>,
    retryDelaysMs: readonly number[],
  ): Promise<R | undefined>;
};

export type StatusUpdaterDependencies = {
  readonly caches: Caches;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
};

/** Maximum number of kept writes. Caches are stale only for moments, in which far fewer objects are written. */
const maxKeptWrites = 1000;

/** A pending update, and the callbacks for its result. */
type PendingUpdate = {
  readonly apply: (newest: unknown) => StatusUpdate<unknown, unknown> | Promise<StatusUpdate<unknown, unknown>>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** The object that is updated. */
type UpdateTarget = {
  readonly kind: Kind;
  readonly found: KubernetesObject;
  readonly retryDelaysMs: readonly number[];
};

export function createStatusUpdater({ caches, client, clock, random }: StatusUpdaterDependencies): StatusUpdater {
  const lastWrites = new Map<string, KubernetesObject>();
  const waiting = new Map<string, PendingUpdate[]>();

  const keepWrite = (uid: string, object: KubernetesObject) => {
    lastWrites.delete(uid);
    lastWrites.set(uid, object);
    const [oldest] = lastWrites.keys();
    if (lastWrites.size > maxKeptWrites && oldest !== undefined) lastWrites.delete(oldest);
  };

  /** Returns the newest of the given object, the cached one and the last write of this process. */
  const newestOf = ({ kind, found }: UpdateTarget): KubernetesObject => {
    const uid = uidOf(found);
    const shown = caches.of(kind).get(keyOf(found));
    const known = shown && uidOf(shown) === uid ? later(shown, found) : found;
    const written = lastWrites.get(uid);
    if (!written) return known;
    if (later(known, written) === written) return written;
    lastWrites.delete(uid);
    return known;
  };

  const readLive = async ({ kind, found }: UpdateTarget): Promise<KubernetesObject | undefined> => {
    try {
      const object = await client.get(kind, referenceOf(keyOf(found)));
      return uidOf(object) === uidOf(found) ? object : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };

  /** Applies updates one after the other, and writes the combined result. */
  const attempt = async (
    target: UpdateTarget,
    batch: readonly PendingUpdate[],
    hadConflict: boolean,
  ): Promise<void> => {
    let newest = hadConflict ? await readLive(target) : newestOf(target);
    let applied = await applyAll(batch, newest);
    if (applied.needsLiveRead && !hadConflict) {
      newest = await readLive(target);
      applied = await applyAll(batch, newest);
    }
    if (applied.object !== newest) {
      const options = { subresource: 'status', fieldManager: 'kruise-manager' };
      keepWrite(uidOf(target.found), await client.update(target.kind, applied.object!, options));
    }
    for (const settle of applied.settlements) settle();
  };

  const attemptUntilWritten = async (target: UpdateTarget, batch: readonly PendingUpdate[]): Promise<void> => {
    for (let retries = 0; ; retries++) {
      try {
        return await attempt(target, batch, retries > 0);
      } catch (error) {
        if (!isConflict(error) || retries === target.retryDelaysMs.length) throw error;
      }
      const waitMs = target.retryDelaysMs[retries]!;
      if (waitMs > 0) await after(clock, jitter(random, waitMs, 0.1));
    }
  };

  /** Processes pending updates, including those that arrive meanwhile. */
  const work = async (target: UpdateTarget, queue: PendingUpdate[]): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.splice(0);
      try {
        await attemptUntilWritten(target, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    waiting.delete(uidOf(target.found));
  };

  return {
    update<K extends Kind, R>(
      kind: K,
      object: ObjectOf<K>,
      apply: (newest: ObjectOf<K>) => StatusUpdate<ObjectOf<K>, R> | Promise<StatusUpdate<ObjectOf<K>, R>>,
      retryDelaysMs: readonly number[],
    ) {
      const target: UpdateTarget = { kind, found: object, retryDelaysMs };
      const uid = uidOf(target.found);
      return new Promise<R | undefined>((resolve, reject) => {
        // Each update gets objects of its own kind and resolves its own result.
        const pending = { apply, resolve, reject } as unknown as PendingUpdate;
        const queue = waiting.get(uid);
        if (queue) {
          queue.push(pending);
          return;
        }
        const newQueue = [pending];
        waiting.set(uid, newQueue);
        void work(target, newQueue);
      });
    },
  };
}

type AppliedUpdates = {
  /** The object with all updates; the original one if nothing changed. */
  readonly object: KubernetesObject | undefined;
  readonly needsLiveRead: boolean;
  /** Callbacks that resolve the pending updates, once the object is written. */
  readonly settlements: readonly (() => void)[];
};

/** Applies updates to an object in sequence. The failure of one does not affect the others. */
async function applyAll(
  batch: readonly PendingUpdate[],
  newest: KubernetesObject | undefined,
): Promise<AppliedUpdates> {
  let object = newest;
  let needsLiveRead = false;
  const settlements: (() => void)[] = [];
  for (const { apply, resolve, reject } of batch) {
    if (object === undefined) {
      settlements.push(() => resolve(undefined));
      continue;
    }
    try {
      const applying = apply(object);
      // Awaiting only promises keeps the time short in which another writer can cause a conflict.
      const entry = applying instanceof Promise ? await applying : applying;
      needsLiveRead ||= entry.needsLiveRead === true;
      // An update returns the same object with another status.
      object = (entry.object as KubernetesObject | undefined) ?? object;
      settlements.push(() => resolve(entry.result));
    } catch (error) {
      settlements.push(() => reject(error));
    }
  }
  return { object, needsLiveRead, settlements };
}

function uidOf({ metadata }: KubernetesObject): string {
  return metadata.uid ?? '';
}

function later(a: KubernetesObject, b: KubernetesObject): KubernetesObject {
  return isVersionAtLeast(a.metadata.resourceVersion, b.metadata.resourceVersion ?? '') ? a : b;
}
