import type { Pod } from '@kruise/api/core/pod';
import { selects } from '@kruise/api/meta/label-selector.validate';
import { type Eviction, eviction } from '@kruise/api/policy/eviction';
import type { PodDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import {
  badRequest,
  failure,
  forbidden,
  isConflict,
  notFound,
  StatusError,
  success,
  timeout,
  tooManyRequests,
  unclassified,
} from '@kruise/machinery/status';
import { type RequestContext, timestamp } from '../context.ts';
import type { Core } from '../core.ts';
import { checkPreconditions, deleteOne } from '../handlers/delete.ts';
import type { DeleteOptions } from '../handlers/deletion.ts';
import { put } from '../handlers/put.ts';
import { type Cached, type KubeObject, whole } from '../object.ts';
import type { Decoded, Resource, Serializer, Subresource } from '../resource.ts';
import { serverItself } from '../user.ts';
import { withCondition } from './pod-condition.ts';
import { serializerOf } from './serializer.ts';

const current = serializerOf(eviction, {});

/** Older clients send v1beta1, which has the same fields. */
const evictions: Serializer = {
  ...current,
  decodeText(text) {
    return renewed(current.decodeText(text));
  },
  decodeValue(value) {
    return renewed(current.decodeValue(value));
  },
};

function renewed(decoded: Decoded): Decoded {
  if (decoded.draft.apiVersion === 'policy/v1beta1') decoded.draft.apiVersion = 'policy/v1';
  return decoded;
}

/** Maximum number of conflicts before the client gets a retriable error. */
const attempts = 20;
/**
 * Maximum number of disruptions that the disruption controller has not processed; with more, the controller is
 * considered down.
 */
const maxUnconfirmed = 2000;
const retrySeconds = 10;
const refusal = "Cannot evict pod as it would violate the pod's disruption budget.";
const budgetName = { group: 'policy', plural: 'poddisruptionbudget' };

/** `pods/eviction`: deletes a Pod if its PodDisruptionBudget allows the disruption. */
export function evictionSubresource(core: Core, pods: Resource, budgets: Resource): Subresource {
  async function act(context: RequestContext, object: KubeObject) {
    const { namespace, name } = context.info;
    if (object.metadata.name !== name) throw badRequest('name in URL does not match name in Eviction object');
    const options = optionsOf(context, object as unknown as Eviction);
    await core.feed.waitForCurrent();
    const done = { code: 201, object: { ...success(), code: 201 } };

    const pod = await deleteWithoutBudget(namespace, name, context, options);
    if (!pod) return done;
    const guards = budgetsOf(pod);
    const [guard] = guards;
    if (guards.length > 1) {
      const message =
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
      throw new StatusError(failure({ code: 500, message }));
    }
    const isFree = guard !== undefined && needsNoDisruption(pod, guard.object as unknown as PodDisruptionBudget);
    if (guard && !isFree) await useDisruption(guard, pod, context, options.dryRun);
    const preconditions = { ...options.preconditions, resourceVersion: pod.metadata.resourceVersion ?? '' };
    try {
      await remove(context, name, isFree ? { ...options, preconditions } : options);
    } catch (error) {
      // The Pod may have become ready meanwhile, and would count against the budget.
      if (guard && isFree && isConflict(error) && options.preconditions?.resourceVersion === undefined) {
        throw unsettled(guard.object.metadata.name ?? '');
      }
      throw error;
    }
    return done;
  }

  const podOf = (namespace: string, name: string) => pods.storage.cache.get(pods.storage.keyOf(namespace, name));

  /**
   * Deletes a Pod whose eviction is no disruption: finished, pending or terminating. Returns a Pod that needs a budget
   * check.
   */
  async function deleteWithoutBudget(
    namespace: string,
    name: string,
    context: RequestContext,
    options: DeleteOptions,
  ): Promise<Pod | undefined> {
    for (let attempt = 1; ; attempt++) {
      const seen = podOf(namespace, name);
      if (!seen) throw notFound(pods.kind, name);
      const pod = seen.object as unknown as Pod;
      const phase = pod.status?.phase;
      const isOver = phase === 'Succeeded' || phase === 'Failed' || Boolean(pod.metadata.deletionTimestamp);
      if (!isOver && phase !== 'Pending') return pod;
      const isFree = options.preconditions?.resourceVersion === undefined;
      const resourceVersion = pod.metadata.resourceVersion ?? '';
      const pinned = { ...options, preconditions: { ...options.preconditions, resourceVersion } };
      try {
        await remove(context, name, isOver || !isFree ? options : pinned);
        return undefined;
      } catch (error) {
        if (!isConflict(error) || !isFree || attempt === attempts) throw error;
        await core.feed.waitForCurrent();
      }
    }
  }

  function budgetsOf(pod: Pod): readonly Cached[] {
    const { cache, prefix } = budgets.storage;
    return cache.list({ keyPrefix: `${prefix}${pod.metadata.namespace}/` }).filter(({ object }) => {
      const { spec } = object as unknown as PodDisruptionBudget;
      return spec?.selector !== undefined && selects(spec.selector, pod.metadata.labels ?? {});
    });
  }

  async function useDisruption(guard: Cached, pod: Pod, context: RequestContext, dryRun: boolean): Promise<void> {
    let seen: Cached | undefined = guard;
    const name = guard.object.metadata.name ?? '';
    for (let attempt = 1; attempt <= attempts; attempt++) {
      if (!seen) throw notFound(budgets.kind, name);
      const updated = withDisruptionUsed(seen.object as unknown as PodDisruptionBudget, pod, timestamp(context));
      if (dryRun) return;
      try {
        await putStatus(context, updated as unknown as KubeObject);
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
        await core.feed.waitForCurrent();
        seen = budgets.storage.cache.get(guard.key);
      }
    }
    throw timeout(`couldn't update PodDisruptionBudget ${JSON.stringify(name)} due to conflicts`, retrySeconds);
  }

  /** Updates the status of a PodDisruptionBudget with the server's identity, whichever user requested the eviction. */
  async function putStatus(context: RequestContext, budget: KubeObject): Promise<void> {
    const status = budgets.subresources.get('status');
    if (status?.type !== 'part') throw new Error('disruption budgets have no status');
    const { group, version, plural } = budgets.kind;
    const { name = '' } = budget.metadata;
    const info = { ...context.info, group, version, plural, verb: 'update', subresource: 'status', name };
    const query = new URLSearchParams({ fieldManager: 'kube-apiserver' });
    const own = { ...context, info, query, user: serverItself, userAgent: 'kube-apiserver' };
    await put(core, own, budgets, { type: 'value', value: budget }, { name: 'status', strategy: status.strategy });
  }

  /** Sets the DisruptionTarget condition on the Pod, then deletes it. */
  async function remove(context: RequestContext, name: string, options: DeleteOptions): Promise<void> {
    let { preconditions } = options;
    if (!options.dryRun) {
      const marked = await mark(context, name, options);
      if (preconditions?.resourceVersion !== undefined) {
        preconditions = { ...preconditions, resourceVersion: String(marked.revision) };
      }
    }
    await deleteOne(core, context, pods, name, { ...options, ...(preconditions ? { preconditions } : {}) });
  }

  async function mark(context: RequestContext, name: string, { preconditions }: DeleteOptions): Promise<Cached> {
    const { storage, kind, serializer } = pods;
    let seen = podOf(context.info.namespace, name);
    for (;;) {
      if (!seen) throw notFound(kind, name);
      checkPreconditions(pods, seen.object, preconditions);
      const pod = withCondition(
        whole(seen) as unknown as Pod,
        {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'EvictionByEvictionAPI',
          message: 'Eviction API: evicting',
        },
        timestamp(context),
      );
      const written = await storage.replace(seen, serializer.canonical(pod as unknown as KubeObject));
      if (written.ok) return written.cached;
      seen = written.current;
    }
  }

  return { type: 'action', kind: eviction, verbs: ['create'], serializer: evictions, act };
}

/** Returns the delete options of the body; it is a dry run if either the body or the query requests one. */
function optionsOf({ query }: RequestContext, { deleteOptions }: Eviction): DeleteOptions {
  const [asked, inside] = [query.getAll('dryRun'), deleteOptions?.dryRun ?? []];
  if (asked.length > 0 && inside.length > 0 && asked.join() !== inside.join()) {
    const shown = `[${asked.join(' ')}] and [${inside.join(' ')}]`;
    throw unclassified(`Non-matching dry-run options in request and content: ${shown}`);
  }
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions } = deleteOptions ?? {};
  return {
    dryRun: asked.length + inside.length > 0,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: Number(gracePeriodSeconds) }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy: propagationPolicy as 'Orphan' }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(preconditions === undefined ? {} : { preconditions }),
  };
}

/**
 * A Pod that is not ready does not count as a disruption; the unhealthyPodEvictionPolicy decides whether it may be
 * evicted.
 */
function needsNoDisruption({ status }: Pod, { spec, status: found }: PodDisruptionBudget): boolean {
  const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  if (isReady) return false;
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = found ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

/** Returns the budget with one allowed disruption less, if one is left. */
function withDisruptionUsed(budget: PodDisruptionBudget, pod: Pod, now: string): PodDisruptionBudget {
  const { metadata, status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 } } =
    budget;
  const name = metadata.name ?? '';
  const { disruptionsAllowed, disruptedPods = {}, conditions = [], observedGeneration = 0 } = status;
  if (observedGeneration < (metadata.generation ?? 0)) throw unsettled(name);
  if (disruptionsAllowed < 0) throw forbidden(budgetName, name, 'pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > maxUnconfirmed) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbidden(budgetName, name, why);
  }
  if (disruptionsAllowed === 0)
    throw tooManyRequests(refusal, 0, [{ reason: 'DisruptionBudget', message: why(budget) }]);
  const left = disruptionsAllowed - 1;
  const exhausted = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration,
    lastTransitionTime: now,
    reason: 'InsufficientPods',
    message: '',
  } as const;
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: left,
      disruptedPods: { ...disruptedPods, [pod.metadata.name ?? '']: now },
      ...(left > 0 ? {} : { conditions: [...conditions.filter(({ type }) => type !== exhausted.type), exhausted] }),
    },
  };
}

function why({ metadata, status }: PodDisruptionBudget): string {
  const { name } = metadata;
  const allowed = status?.conditions?.find(({ type }) => type === 'DisruptionAllowed');
  if (allowed?.status === 'False' && allowed.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${allowed.message}`;
  }
  const { desiredHealthy = 0, currentHealthy = 0 } = status ?? {};
  return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
}

function unsettled(name: string): Error {
  const message = `The disruption budget ${name} is still being processed by the server.`;
  return tooManyRequests(refusal, retrySeconds, [{ reason: 'DisruptionBudget', message }]);
}
