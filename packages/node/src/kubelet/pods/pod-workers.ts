/** Workers of all Pods on a node. */
import { createDelayingQueue } from '@kruise/client/delaying-queue';
import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { PodWorker } from './pod-worker.ts';

/** Pod workers of a node. */
export type PodWorkers = {
  /** Returns the workers in the order in which they were added. */
  all(): readonly PodWorker[];
  /** Iterates over the workers without a copy. */
  values(): Iterable<PodWorker>;
  get(uid: string): PodWorker | undefined;
  /** Returns the newest worker of a name. */
  find(namespace: string, name: string): PodWorker | undefined;
  /** Adds a worker until its Pod is removed from the node. */
  add(worker: PodWorker): void;
  /** Schedules a sync of a Pod at a time. */
  syncAt(uid: string, at: Instant): void;
};

/** Creates an empty set of workers. All workers stop when the signal is aborted. */
export function createPodWorkers(clock: Clock, signal: AbortSignal): PodWorkers {
  const workers = new Map<string, PodWorker>();
  const byName = new Map<string, PodWorker>();
  const delays = createDelayingQueue<string>(clock, (uid) => workers.get(uid)?.requestSync());
  signal.addEventListener(
    'abort',
    () => {
      delays.clear();
      for (const worker of workers.values()) worker.stop();
    },
    { once: true },
  );

  return {
    all: () => [...workers.values()],
    values: () => workers.values(),
    get: (uid) => workers.get(uid),
    find: (namespace, name) => byName.get(`${namespace}/${name}`),
    add(worker) {
      const { namespace, name } = worker.pod().metadata;
      const key = `${namespace}/${name}`;
      workers.set(worker.uid, worker);
      byName.set(key, worker);
      void worker.gone.then(() => {
        workers.delete(worker.uid);
        if (byName.get(key) === worker) byName.delete(key);
      });
    },
    syncAt: (uid, at) => delays.set(uid, at - clock.now(), 'change'),
  };
}
