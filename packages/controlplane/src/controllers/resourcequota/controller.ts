import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { type ResourceQuota, resourceQuota } from '@kruise/api/core/resourcequota';
import { type ControllerContext, type Runnable, whenSynced } from '@kruise/client/controller';
import { type Key, keyOf } from '@kruise/client/object-key';
import { createNamedQueue, runWorkers } from '@kruise/client/workers';
import { isSame } from '@kruise/machinery/json-value';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import { every } from '@kruise/values/clock';
import { changesUsage, decide, namesOf } from './decide.ts';
import { createSources, quotaKinds, type Sources } from './sources.ts';

const workers = 5;
/** Full resync interval, which corrects missed changes. */
const recountMs = 5 * 60_000;
/**
 * Factor of the minimum interval between recounts, relative to their duration: limits recounting to 5 % of the time
 * while many objects are deleted.
 */
const intervalFactor = 20;
/**
 * Delay of a second recount, which sees objects that admission charged but the cache did not contain at the first
 * recount.
 */
const verifyAfterSeconds = 5;

/**
 * ResourceQuota controller: recalculates the usage of quotas. Admission charges creations; this controller releases the
 * usage of deleted objects.
 */
export function resourceQuotaController(): Runnable {
  return {
    name: 'resourcequota',
    component: 'resourcequota-controller',
    watches: [],
    uses: quotaKinds,
    async run(context, signal) {
      const { clock, caches, log } = context;
      await whenSynced({ watches: [], uses: quotaKinds }, caches, signal);
      if (signal.aborted) return;
      const queue = createNamedQueue(context, 'resourcequota_primary');
      const quotas = caches.informer(resourceQuota);

      const sources = createSources(
        context,
        ({ evaluator }, change) => {
          const { namespace = '' } = change.object.metadata;
          const affected = quotas.list({ namespace }).filter((quota) => namesOf(quota).some(evaluator.counts));
          if (affected.length === 0 || !changesUsage(evaluator, change, clock.now())) return;
          for (const quota of affected) queue.add(keyOf(quota));
        },
        signal,
      );
      const counter = createCounter(context, sources, signal);
      quotas.handle(
        ({ type, object, previous }) => {
          // Admission updates the usage in the status for everything it admits.
          if (previous && isSame(previous.spec, object.spec)) return;
          if (type !== 'added') sources.keep(quotas.list().flatMap(namesOf));
          if (type === 'deleted') counter.forget(keyOf(object));
          else queue.add(keyOf(object), isUncounted(object) ? 'change' : 'background');
        },
        { signal },
      );
      // A CRD is named after its resource.
      caches.informer(customResourceDefinition).handle(
        ({ type, object: { metadata } }) => {
          if (type === 'deleted') sources.drop(metadata.name ?? '');
          for (const key of counter.waitingFor(metadata.name ?? '')) queue.add(key);
        },
        { signal },
      );
      const recount = () => {
        for (const quota of quotas.list()) queue.add(keyOf(quota), 'background');
      };
      every(clock, recountMs, recount, signal);

      const onError = (key: Key, error: unknown) => {
        // A request was admitted, or the quota was deleted, in the meantime.
        if (isConflict(error) || isNotFound(error)) return;
        log.error({ controller: 'resourcequota', key, error }, 'failed to recalculate quota usage; requeued');
      };
      await runWorkers(queue, { workers, work: counter.count, onError }, signal);
    },
  };
}

/** Reports whether a quota has a limit without usage, for which admission rejects everything. */
function isUncounted(quota: ResourceQuota): boolean {
  const { status } = quota;
  return !isSame(quota.spec?.hard, status?.hard) || namesOf(quota).some((name) => status?.used?.[name] === undefined);
}

/** Recalculates the usage of quotas, one at a time. */
function createCounter({ client, clock, caches }: ControllerContext, sources: Sources, signal: AbortSignal) {
  const quotas = caches.informer(resourceQuota);
  /** Quotas that count a resource that is not served, by resource. */
  const waiting = new Map<string, Set<Key>>();
  const nextRecountAt = new Map<Key, number>();

  const wait = (key: Key, resources: readonly string[]) => {
    for (const keys of waiting.values()) keys.delete(key);
    for (const resource of resources) waiting.set(resource, (waiting.get(resource) ?? new Set()).add(key));
  };

  return {
    /** Recalculates the usage and writes changes. Returns the requeue delay in seconds. */
    async count(key: Key): Promise<number | undefined> {
      const intervalMs = (nextRecountAt.get(key) ?? 0) - clock.elapsedMs();
      if (intervalMs > 0) return intervalMs / 1000;
      const { found, unknown } = await sources.for(namesOf(quotas.get(key)));
      // There is no await from here on, so that the quota and the counted objects are from the same moment.
      const quota = quotas.get(key);
      if (!quota) return undefined;
      wait(key, unknown);
      const startedAt = clock.elapsedMs();
      const namespace = quota.metadata.namespace ?? '';
      const counted = found.map(({ evaluator, objects }) => ({ evaluator, objects: objects.list({ namespace }) }));
      const status = decide(quota, counted, clock.now());
      const endedAt = clock.elapsedMs();
      nextRecountAt.set(key, endedAt + intervalFactor * (endedAt - startedAt));
      if (!status) return undefined;
      await client.update(resourceQuota, { ...quota, status }, { subresource: 'status', signal });
      return verifyAfterSeconds;
    },
    /** Quotas that count a resource that was not served when they were recalculated. */
    waitingFor: (resource: string): Iterable<Key> => waiting.get(resource) ?? [],
    /** Drops the state of a deleted quota. */
    forget(key: Key) {
      wait(key, []);
      nextRecountAt.delete(key);
    },
  };
}
