/**
 * Sources of the objects that quotas count. Resources with their own quota names are in the cache anyway; for all
 * others, which quotas can only count, metadata informers run as long as a quota counts them.
 */
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { configMap } from '@kruise/api/core/configmap';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { replicationController } from '@kruise/api/core/replicationcontroller';
import { resourceQuota } from '@kruise/api/core/resourcequota';
import { secret } from '@kruise/api/core/secret';
import { service } from '@kruise/api/core/service';
import { createClient } from '@kruise/client/client';
import type { ControllerContext } from '@kruise/client/controller';
import { discover, preferredKinds } from '@kruise/client/discovery';
import { type Change, type Informer, startInformer } from '@kruise/client/informer';
import type { KubernetesObject } from '@kruise/client/object-key';
import { type QuotaEvaluator, quotaEvaluatorOf } from '@kruise/machinery/quota';
import { isNotFound } from '@kruise/machinery/status';
import { type Kind, resourceOf } from '@kruise/schema/kind';
import { after } from '@kruise/values/clock';
import { memoizeUsage } from './decide.ts';

const cachedKinds: readonly Kind[] = [
  configMap,
  persistentVolumeClaim,
  pod,
  replicationController,
  resourceQuota,
  secret,
  service,
];

const syncTimeoutMs = 30_000;

/** Kinds that must be in the cache. */
export const quotaKinds: readonly Kind[] = [...cachedKinds, customResourceDefinition];

/** Objects of one resource. */
export type Source = {
  readonly resource: string;
  readonly evaluator: QuotaEvaluator;
  readonly objects: Pick<Informer<KubernetesObject>, 'list'>;
};

export type Sources = {
  /**
   * Returns the sources of everything counted under some names, and the resources that have no source at the moment.
   */
  for(names: readonly string[]): Promise<{ readonly found: readonly Source[]; readonly unknown: readonly string[] }>;
  /** Stops all sources that are not counted under one of these names. */
  keep(names: readonly string[]): void;
  /** Stops the source of a resource that is no longer served. */
  drop(resource: string): void;
};

/** Callback for every change of a counted object after the initial list. */
export type OnChange = (source: Source, change: Change<KubernetesObject>) => void;

/** Creates sources on demand, until the signal is aborted. */
export function createSources(
  { client, clock, random, caches, log }: ControllerContext,
  onChange: OnChange,
  signal: AbortSignal,
): Sources {
  const metadata = createClient(client.transport, { metadataOnly: true });
  const counted = new Map<string, { readonly source: Promise<Source | undefined>; readonly stop: AbortController }>();

  const cached = cachedKinds.map((kind) => follow(kind, caches.informer(kind) as Informer<KubernetesObject>, signal));

  function follow(kind: Kind, informer: Informer<KubernetesObject>, ended: AbortSignal): Source {
    const source = { resource: resourceOf(kind), evaluator: memoizeUsage(quotaEvaluatorOf(kind)), objects: informer };
    const handler = (change: Change<KubernetesObject>) => {
      if (change.cause === 'event') onChange(source, change);
    };
    informer.handle(handler, { signal: ended });
    return source;
  }

  async function open(resource: string, ended: AbortSignal): Promise<Source | undefined> {
    const { kinds } = await discover(client, { signal: ended });
    const kind = preferredKinds(kinds).find((each) => resourceOf(each) === resource);
    if (kind?.scope !== 'Namespaced' || !['list', 'watch'].every((verb) => kind.verbs.includes(verb))) {
      return undefined;
    }
    const onError = (error: unknown) => {
      if (!isNotFound(error)) log.warn({ resource, error }, 'failed to list and watch objects for quota; will retry');
    };
    const informer = startInformer(metadata, clock, random, kind, { newest: true, onError }, ended);
    // A resource that cannot be listed must not block the other resources of the quota.
    await Promise.race([informer.synced, after(clock, syncTimeoutMs, ended)]);
    if (!informer.hasSynced()) return undefined;
    return follow(kind, informer as Informer<KubernetesObject>, ended);
  }

  function countedAs(resource: string): Promise<Source | undefined> {
    const present = counted.get(resource);
    if (present) return present.source;
    const stop = new AbortController();
    const source = open(resource, AbortSignal.any([signal, stop.signal]));
    counted.set(resource, { source, stop });
    // A failed lookup is not cached, because the resource may be added later.
    const settle = (found?: Source) => {
      if (!found && counted.get(resource)?.stop === stop) drop(resource);
    };
    source.then(settle, () => settle());
    return source;
  }

  const drop = (resource: string) => {
    counted.get(resource)?.stop.abort();
    counted.delete(resource);
  };

  return {
    async for(names) {
      const found = cached.filter(({ evaluator }) => names.some((name) => evaluator.counts(name)));
      const unknown: string[] = [];
      for (const resource of othersAmong(names)) {
        const source = await countedAs(resource);
        if (source) found.push(source);
        else unknown.push(resource);
      }
      return { found, unknown };
    },
    keep(names) {
      const needed = othersAmong(names);
      for (const resource of counted.keys()) if (!needed.has(resource)) drop(resource);
    },
    drop,
  };

  /** Returns the counted resources that are not in the cache. */
  function othersAmong(names: readonly string[]): ReadonlySet<string> {
    const prefix = 'count/';
    const others = names
      .filter((name) => name.startsWith(prefix) && !cached.some(({ evaluator }) => evaluator.counts(name)))
      .map((name) => name.slice(prefix.length));
    return new Set(others);
  }
}
