import { type Namespace, namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { createClient } from '@kruise/client/client';
import { type ControllerContext, type Runnable, whenSynced } from '@kruise/client/controller';
import { discover, preferredKinds } from '@kruise/client/discovery';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import type { Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { listAll } from '@kruise/client/pages';
import { defaultRateLimiter } from '@kruise/client/rate-limiter';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import { createNamedQueue, runWorkers } from '@kruise/client/workers';
import { isSame } from '@kruise/machinery/json-value';
import { isNotFound } from '@kruise/machinery/status';
import { mapConcurrently } from '@kruise/values/map-concurrently';
import { parseTime } from '@kruise/values/time';
import { deleteContent, type RemainingContent, waitUntilDeleted } from './content.ts';
import { decide, podGraceSeconds, type State } from './decide.ts';

const uses = [namespace];
const ownFinalizer = 'kubernetes';
const defaultDelaySeconds = 5;
/** Number of resources of one namespace that are deleted concurrently. */
const maxConcurrentResources = 8;

/** Namespace controller: deletes the content of terminating namespaces, then removes their finalizer. */
export function namespaceController(delaySeconds = defaultDelaySeconds): Runnable {
  return {
    name: 'namespace',
    component: 'namespace-controller',
    watches: [],
    uses,
    async run(context, signal) {
      const { clock, caches, log } = context;
      await whenSynced({ watches: [], uses }, caches, signal);
      if (signal.aborted) return;
      // Users wait for the deletion of a namespace, so the maximum backoff is one minute.
      const queue = createNamedQueue(context, 'namespace', defaultRateLimiter(clock, { maxMs: 60_000 }));
      const contentDeleter = createContentDeleter(context, (key) => queue.add(key), signal);
      caches.informer(namespace).handle(
        (change) => {
          if (!wasDeleted(change)) return;
          const deletedAt = parseTime(change.object.metadata.deletionTimestamp ?? '');
          queue.addAfter(keyOf(change.object), deletedAt + delaySeconds * 1000 - clock.now());
        },
        { signal },
      );
      const onError = (key: Key, error: unknown) =>
        log.error({ controller: 'namespace', key, error }, 'failed to delete namespace content; requeued');
      await runWorkers(queue, { workers: 10, work: contentDeleter.work, onError }, signal);
    },
  };
}

/**
 * Reports whether a namespace started terminating. Status updates of terminating namespaces are the controller's own
 * and are ignored.
 */
function wasDeleted({ type, object, previous }: Change<Namespace>): boolean {
  return type !== 'deleted' && object.metadata.deletionTimestamp != null && !previous?.metadata.deletionTimestamp;
}

function createContentDeleter({ client, clock }: ControllerContext, enqueue: (key: Key) => void, signal: AbortSignal) {
  const metadata = createClient(client.transport, { metadataOnly: true });
  /** Watches for the remaining content of namespaces. */
  const waits = new Map<Key, AbortController>();

  async function work(name: Key): Promise<number | undefined> {
    waits.get(name)?.abort();
    waits.delete(name);
    const found = await ignoreNotFound(client.get(namespace, { name }, { signal }));
    if (!found?.metadata.deletionTimestamp || !found.spec?.finalizers?.includes(ownFinalizer)) return undefined;

    const { kinds, failures } = await discover(client, { signal });
    const remaining = await deleteAllContent(found, preferredKinds(kinds).filter(isDeletable));
    const state = decide({ namespace: found, discoveryFailures: failures, remainders: remaining }, clock.now());
    await report(found, state);
    if (state.isEmpty) {
      await release(found);
      return undefined;
    }
    awaitDeletion(name, remaining);
    if (state.errors.length > 0) throw new Error(state.errors.join(', '));
    return state.requeueAfterSeconds;
  }

  /** Deletes Pods first, so that the objects they use exist until they terminate. */
  async function deleteAllContent(
    found: Namespace,
    kinds: readonly DynamicKind[],
  ): Promise<readonly RemainingContent[]> {
    const { name = '', deletionTimestamp } = found.metadata;
    const deleteContentOf = async (
      each: readonly DynamicKind[],
      graceSeconds: number,
    ): Promise<readonly RemainingContent[]> => {
      const place = { namespace: name, graceSeconds, signal };
      const remaining = await mapConcurrently(each, maxConcurrentResources, (kind) =>
        deleteContent(metadata, kind, place),
      );
      return remaining.filter((one) => one !== undefined);
    };
    const { items: pods } = await listAll(client, pod, { namespace: name, signal });
    const graceSeconds = podGraceSeconds(pods, parseTime(deletionTimestamp ?? ''), clock.now());
    const isPod = ({ group, plural }: DynamicKind) => group === pod.group && plural === pod.plural;
    const [podKinds, others] = [kinds.filter(isPod), kinds.filter((kind) => !isPod(kind))];
    const remainingPods = await deleteContentOf(podKinds, graceSeconds);
    if (remainingPods.some(({ count }) => count > 0)) return remainingPods;
    return [...remainingPods, ...(await deleteContentOf(others, 0))];
  }

  async function report({ metadata: { name = '', uid } }: Namespace, { conditions }: State): Promise<void> {
    const change = (current: Namespace): Namespace => {
      const status = { ...current.status, phase: 'Terminating', conditions } as const;
      return current.metadata.uid !== uid || isSame(status, current.status) ? current : { ...current, status };
    };
    await ignoreNotFound(updateWithRetry(client, namespace, { name }, change, { subresource: 'status', signal }));
  }

  async function release({ metadata: { name = '', uid } }: Namespace): Promise<void> {
    const change = (current: Namespace): Namespace => {
      const finalizers = current.spec?.finalizers?.filter((each) => each !== ownFinalizer) ?? [];
      return current.metadata.uid === uid ? { ...current, spec: { ...current.spec, finalizers } } : current;
    };
    await ignoreNotFound(updateWithRetry(client, namespace, { name }, change, { subresource: 'finalize', signal }));
  }

  /** Enqueues the namespace as soon as all remaining content is gone. */
  function awaitDeletion(name: Key, remaining: readonly RemainingContent[]): void {
    const awaited = remaining.filter(({ count }) => count > 0);
    // Content that could not be deleted is not watched; it is retried later.
    if (awaited.length === 0) return;
    const stop = new AbortController();
    const ended = AbortSignal.any([signal, stop.signal]);
    const place = { namespace: name, signal: ended };
    waits.set(name, stop);
    void Promise.all(awaited.map((each) => waitUntilDeleted(metadata, each, place))).then((all) => {
      if (all.every(Boolean) && !ended.aborted) enqueue(name);
    });
  }

  return { work };
}

function isDeletable({ scope, verbs }: DynamicKind): boolean {
  return scope === 'Namespaced' && verbs.includes('delete') && verbs.includes('list');
}

/** Returns the response to a request; undefined if the object does not exist. */
async function ignoreNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
