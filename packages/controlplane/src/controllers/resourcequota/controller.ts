import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { type ResourceQuota, resourceQuota } from '@kruise/api/core/resourcequota';
import { type Runnable, whenSynced } from '@kruise/client/controller';
import { type Key, keyOf } from '@kruise/client/object-key';
import { createNamedQueue, runWorkers } from '@kruise/client/workers';
import { isSame } from '@kruise/machinery/json-value';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import { every } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import { changesUsage, decide } from './decide.ts';
import { createSources, quotaKinds } from './sources.ts';

/** Everything is counted again after so long, whatever was missed. */
const recountMs = 5 * 60_000;
/** Where very many objects go at once, counting takes one part of the time in so many. */
const restFactor = 20;
const workers = 5;

/** Keeps account of what is used of each quota: admission charges what is made, this gives back what is gone. */
export function resourceQuotaController(): Runnable {
  return {
    name: 'resourcequota',
    component: 'resourcequota-controller',
    watches: [],
    uses: quotaKinds,
    async run(context, signal) {
      const { client, clock, caches, log } = context;
      await whenSynced({ watches: [], uses: quotaKinds }, caches, signal);
      if (signal.aborted) return;
      const queue = createNamedQueue(context, 'resourcequota_primary');
      const quotas = caches.informer(resourceQuota);
      /** Quotas that count a resource which is not served. */
      const waiting = new Map<string, Set<Key>>();
      const forgetWaiting = (key: Key) => {
        for (const keys of waiting.values()) keys.delete(key);
      };
      const restsUntil = new Map<Key, Instant>();

      const sources = createSources(
        context,
        ({ evaluator }, change) => {
          const { namespace } = change.object.metadata;
          if (namespace === undefined) return;
          const concerned = quotas.list({ namespace }).filter((quota) => namesOf(quota).some(evaluator.counts));
          if (concerned.length === 0 || !changesUsage(evaluator, change, clock.now())) return;
          for (const quota of concerned) queue.add(keyOf(quota));
        },
        signal,
      );
      quotas.handle(
        ({ type, object, previous }) => {
          if (type !== 'added') sources.keep(quotas.list().flatMap(namesOf));
          if (type === 'deleted') {
            forgetWaiting(keyOf(object));
            restsUntil.delete(keyOf(object));
          }
          if (type === 'deleted' || (previous && isSame(previous.spec, object.spec))) return;
          queue.add(keyOf(object), isUncounted(object) ? 'change' : 'background');
        },
        { signal },
      );
      // A definition is named after its resource.
      caches.informer(customResourceDefinition).handle(
        ({ type, object: { metadata } }) => {
          const resource = metadata.name ?? '';
          if (type === 'deleted') sources.drop(resource);
          for (const key of waiting.get(resource) ?? []) queue.add(key);
        },
        { signal },
      );
      const recount = () => {
        for (const quota of quotas.list()) queue.add(keyOf(quota), 'background');
      };
      every(clock, recountMs, recount, signal);

      async function work(key: Key): Promise<number | undefined> {
        const restMs = (restsUntil.get(key) ?? 0) - clock.now();
        if (restMs > 0) return restMs / 1000;
        const names = namesOf(quotas.get(key));
        const { found, unknown } = await sources.for(names);
        forgetWaiting(key);
        for (const resource of unknown) waiting.set(resource, (waiting.get(resource) ?? new Set()).add(key));
        // From here on nothing is waited for, so that the quota and what it counts are of one moment.
        const quota = quotas.get(key);
        if (!quota) return undefined;
        const namespace = quota.metadata.namespace ?? '';
        const counted = found.map(({ evaluator, objects }) => ({ evaluator, objects: objects.list({ namespace }) }));
        const startedAt = clock.now();
        const status = decide(quota, counted, startedAt);
        restsUntil.set(key, clock.now() + restFactor * (clock.now() - startedAt));
        if (status) await client.update(resourceQuota, { ...quota, status }, { subresource: 'status', signal });
        return undefined;
      }
      const onError = (key: Key, error: unknown) => {
        // Someone was admitted, or the quota deleted, meanwhile.
        if (isConflict(error) || isNotFound(error)) return;
        log.error({ controller: 'resourcequota', key, error }, 'a quota could not be counted; it is tried again');
      };
      await runWorkers(queue, { workers, work, onError }, signal);
    },
  };
}

function namesOf(quota: ResourceQuota | undefined): readonly string[] {
  return Object.keys(quota?.spec?.hard ?? {});
}

/** Nothing is admitted under a name of which it is not known how much is used. */
function isUncounted(quota: ResourceQuota): boolean {
  const { status } = quota;
  return !isSame(quota.spec?.hard, status?.hard) || namesOf(quota).some((name) => status?.used?.[name] === undefined);
}
