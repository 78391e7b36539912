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
/** Everything is counted again after so long, whatever was missed. */
const recountMs = 5 * 60_000;
/** Where very many objects go at once, counting takes one part of the time in so many. */
const restFactor = 20;
/** What was charged and not yet in sight when it was counted is in sight when it is counted again. */
const verifyAfterSeconds = 5;

/** Keeps account of what is used of each quota: admission charges what is made, this gives back what is gone. */
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
          const concerned = quotas.list({ namespace }).filter((quota) => namesOf(quota).some(evaluator.counts));
          if (concerned.length === 0 || !changesUsage(evaluator, change, clock.now())) return;
          for (const quota of concerned) queue.add(keyOf(quota));
        },
        signal,
      );
      const counter = createCounter(context, sources, signal);
      quotas.handle(
        ({ type, object, previous }) => {
          // Admission writes what is used for everything it lets in.
          if (previous && isSame(previous.spec, object.spec)) return;
          if (type !== 'added') sources.keep(quotas.list().flatMap(namesOf));
          if (type === 'deleted') counter.forget(keyOf(object));
          else queue.add(keyOf(object), isUncounted(object) ? 'change' : 'background');
        },
        { signal },
      );
      // A definition is named after its resource.
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
        // Someone was admitted, or the quota deleted, meanwhile.
        if (isConflict(error) || isNotFound(error)) return;
        log.error({ controller: 'resourcequota', key, error }, 'a quota could not be counted; it is tried again');
      };
      await runWorkers(queue, { workers, work: counter.count, onError }, signal);
    },
  };
}

/** Nothing is admitted under a name of which it is not known how much is used. */
function isUncounted(quota: ResourceQuota): boolean {
  const { status } = quota;
  return !isSame(quota.spec?.hard, status?.hard) || namesOf(quota).some((name) => status?.used?.[name] === undefined);
}

/** Counts what quotas are about, one at a time. */
function createCounter({ client, clock, caches }: ControllerContext, sources: Sources, signal: AbortSignal) {
  const quotas = caches.informer(resourceQuota);
  /** Quotas that count a resource which is not served, by the resource. */
  const waiting = new Map<string, Set<Key>>();
  const restsUntil = new Map<Key, number>();

  const wait = (key: Key, resources: readonly string[]) => {
    for (const keys of waiting.values()) keys.delete(key);
    for (const resource of resources) waiting.set(resource, (waiting.get(resource) ?? new Set()).add(key));
  };

  return {
    /** Counts, and writes what has changed. Returns after how many seconds to do so again. */
    async count(key: Key): Promise<number | undefined> {
      const restMs = (restsUntil.get(key) ?? 0) - clock.elapsedMs();
      if (restMs > 0) return restMs / 1000;
      const { found, unknown } = await sources.for(namesOf(quotas.get(key)));
      // From here on nothing is waited for, so that the quota and what it counts are of one moment.
      const quota = quotas.get(key);
      if (!quota) return undefined;
      wait(key, unknown);
      const startedAt = clock.elapsedMs();
      const namespace = quota.metadata.namespace ?? '';
      const counted = found.map(({ evaluator, objects }) => ({ evaluator, objects: objects.list({ namespace }) }));
      const status = decide(quota, counted, clock.now());
      const endedAt = clock.elapsedMs();
      restsUntil.set(key, endedAt + restFactor * (endedAt - startedAt));
      if (!status) return undefined;
      await client.update(resourceQuota, { ...quota, status }, { subresource: 'status', signal });
      return verifyAfterSeconds;
    },
    /** The quotas that count a resource which was not served when they did. */
    waitingFor: (resource: string): Iterable<Key> => waiting.get(resource) ?? [],
    /** Lets go of what is known of a quota that is gone. */
    forget(key: Key) {
      wait(key, []);
      restsUntil.delete(key);
    },
  };
}
