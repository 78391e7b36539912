import { tooLargeResourceVersion } from '@kruise/machinery/status';
import { deepFreeze } from '@kruise/schema/draft';
import { after, type Clock } from '@kruise/values/clock';
import type { Store, StoreEvent } from '../store/store.ts';

/** One watch on the store that feeds the caches of all resources, so that all caches are at the same revision. */
export interface Feed {
  /** Revision up to which every cache has received every change. */
  readonly revision: number;
  /** Reports whether the store connection was lost; the caches receive no more changes. */
  readonly failed: boolean;
  /** Sends the changes below a prefix to a receiver from now on. `after` is the revision before the first change. */
  subscribe(prefix: string, receive: (event: StoreEvent) => void): { readonly after: number };
  unsubscribe(prefix: string): void;
  /** Returns an object as the caches hold it: deeply frozen if the server was configured to. */
  freeze<T>(object: T): T;
  /** Resolves once the caches are as fresh as the store at the time of the call. */
  waitForCurrent(): Promise<void>;
  /** Resolves once the caches reach a revision; rejects after a few seconds. */
  waitForRevision(revision: number): Promise<void>;
}

/** Maximum wait for a revision that the cache has not reached, as in Kubernetes. */
const waitTimeoutMs = 3000;

type Waiter = { readonly revision: number; readonly resolve: () => void };

/**
 * Starts the feed. Subscribers are called synchronously in the order of revisions, so all caches agree between two
 * awaits.
 */
export function startFeed(
  store: Store,
  clock: Clock,
  options: {
    readonly afterRevision: number;
    readonly signal: AbortSignal;
    readonly onFailure: (error: unknown) => void;
    readonly freeze?: boolean;
  },
): Feed {
  const receivers = new Map<string, (event: StoreEvent) => void>();
  let revision = options.afterRevision;
  let waiters: Waiter[] = [];
  let failed = false;

  async function follow(): Promise<void> {
    const watch = store.watch({ prefix: '/registry/', afterRevision: revision, signal: options.signal });
    for await (const batch of watch) {
      for (const event of batch.events) receiverOf(event.key)?.(event);
      revision = batch.revision;
      wake();
    }
  }

  /** Returns the receiver of a key, such as `/registry/pods/`, or `/registry/example.com/toys/` with a group. */
  function receiverOf(key: string): ((event: StoreEvent) => void) | undefined {
    const first = key.indexOf('/', '/registry/'.length) + 1;
    return receivers.get(key.slice(0, first)) ?? receivers.get(key.slice(0, key.indexOf('/', first) + 1));
  }

  function wake(): void {
    if (waiters.length === 0) return;
    const due = waiters.filter((waiter) => waiter.revision <= revision);
    waiters = waiters.filter((waiter) => waiter.revision > revision);
    for (const { resolve } of due) resolve();
  }

  function wait(wanted: number): Promise<void> | undefined {
    if (wanted <= revision) return undefined;
    return new Promise((resolve) => waiters.push({ revision: wanted, resolve }));
  }

  follow().catch((error) => {
    failed = true;
    if (!options.signal.aborted) options.onFailure(error);
  });

  return {
    get revision() {
      return revision;
    },
    get failed() {
      return failed;
    },
    subscribe(prefix, receive) {
      receivers.set(prefix, receive);
      return { after: revision };
    },
    unsubscribe(prefix) {
      receivers.delete(prefix);
    },
    freeze: options.freeze ? deepFreeze : (object) => object,
    async waitForCurrent() {
      await wait(await store.currentRevision());
    },
    async waitForRevision(wanted) {
      const waitForRevision = wait(wanted);
      if (!waitForRevision) return;
      const timeout = new AbortController();
      const expiry = after(clock, waitTimeoutMs, timeout.signal).then(() => {
        throw tooLargeResourceVersion(wanted, revision);
      });
      await Promise.race([waitForRevision, expiry]).finally(() => {
        expiry.catch(() => {});
        timeout.abort();
      });
    },
  };
}
