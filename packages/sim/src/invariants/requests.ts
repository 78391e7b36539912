/** Invariants of the requests and responses of the API server, depending on the sender. */
import { daemonSet } from '@kruise/api/apps/daemonset';
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { statefulSet } from '@kruise/api/apps/statefulset';
import { job } from '@kruise/api/batch/job';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { daemonSet as advancedDaemonSet } from '@kruise/api/kruise/daemonset';
import { statefulSet as advancedStatefulSet } from '@kruise/api/kruise/statefulset';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { selectorOf } from '@kruise/machinery/label-selector';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import type { View } from '../view.ts';
import type { Invariant } from './invariant.ts';

export const acknowledgedWritesAreDurable: Invariant = {
  name: 'acknowledged writes survive a crash',
  observe({ onRequest, onServerStart }) {
    let acknowledged = 0;
    let broken: string | undefined;
    onRequest(() => ({ object }) => {
      const { metadata } = (object ?? {}) as { readonly metadata?: { readonly resourceVersion?: string } };
      acknowledged = Math.max(acknowledged, Number(metadata?.resourceVersion ?? 0));
    });
    onServerStart((revision) => {
      if (revision < acknowledged)
        broken ??= `revision ${acknowledged} was acknowledged, and the store starts at ${revision}`;
    });
    return () => broken;
  },
};

const collector = 'system:serviceaccount:kube-system:generic-garbage-collector';
const owners = [replicaSet, deployment, statefulSet, daemonSet, job, cloneSet, advancedStatefulSet, advancedDaemonSet];

export const onlyGarbageIsCollected: Invariant = {
  name: 'the garbage collector deletes only objects without an owner',
  observe({ onRequest, view }) {
    let broken: string | undefined;
    onRequest(({ user, request }) => {
      if (request.method !== 'DELETE' || user.username !== collector) return undefined;
      const seen = view();
      for (const kind of [pod, replicaSet]) {
        const object = seen?.at(kind, request.path);
        const owner = object && liveOwnerOf(seen!, object);
        if (owner !== undefined) return () => (broken ??= `${kind.kind} ${object?.metadata.name} belongs to ${owner}`);
      }
      return undefined;
    });
    return () => broken;
  },
};

function liveOwnerOf(view: View, object: Parameters<typeof controllerOf>[0]): string | undefined {
  const uid = controllerOf(object)?.uid;
  if (uid === undefined) return undefined;
  for (const kind of owners) {
    const owner = view.list(kind).find(({ metadata }) => metadata.uid === uid && metadata.deletionTimestamp == null);
    if (owner) return `${kind.kind} ${owner.metadata.name}`;
  }
  return undefined;
}

export const evictionsRespectBudgets: Invariant = {
  name: 'evictions respect the PodDisruptionBudget',
  observe({ onRequest, view }) {
    let broken: string | undefined;
    /** Pending evictions that would violate a budget, with the path and the reason. */
    const faults = new Map<object, { readonly path: string; readonly why: string }>();
    onRequest(({ request }) => {
      const { method, path } = request;
      if (method !== 'POST' || !path.endsWith('/eviction')) return undefined;
      const seen = view();
      const why = seen && faultOf(seen, path);
      if (why === undefined) return undefined;
      faults.set(request, { path, why });
      return () => (broken ??= faults.get(request)?.why);
    });
    return (seen) => {
      // A webhook may delay the eviction: the budget at the time of the server's decision counts, not at the time of
      // the request.
      for (const [request, { path }] of faults) {
        if (isUndecided(seen, path) && faultOf(seen, path) === undefined) faults.delete(request);
      }
      return broken;
    };
  },
};

/** Returns why a healthy Pod must not be evicted, if the status of its budget is up to date. */
function faultOf(seen: View, path: string): string | undefined {
  const found = seen.at(pod, path);
  if (!found || !isPodActive(found) || !isPodReady(found)) return undefined;
  const budget = budgetOf(seen, found);
  const { currentHealthy = 0, desiredHealthy = 0, observedGeneration } = budget?.status ?? {};
  const pods = seen.list(pod).filter(({ metadata }) => selectorOf(budget?.spec?.selector).matches(metadata.labels));
  const healthy = pods.filter((each) => isPodActive(each) && isPodReady(each)).length;
  const isTrue = budget && observedGeneration === budget.metadata.generation && currentHealthy === healthy;
  return isTrue && healthy <= desiredHealthy
    ? `${budget.metadata.name} has ${healthy} healthy Pods and allows no disruption`
    : undefined;
}

/** Returns whether a Pod is active and its eviction is not yet recorded in the budget. */
function isUndecided(seen: View, path: string): boolean {
  const found = seen.at(pod, path);
  if (!found || !isPodActive(found)) return false;
  return budgetOf(seen, found)?.status?.disruptedPods?.[found.metadata.name ?? ''] === undefined;
}

function budgetOf(seen: View, { metadata }: Pod) {
  return seen.list(podDisruptionBudget).find(({ spec }) => selectorOf(spec?.selector).matches(metadata.labels));
}

export const deletedPodsStayDeleted: Invariant = {
  name: 'a deleted Pod stays deleted',
  observe() {
    let present = new Set<string>();
    const gone = new Set<string>();
    return (view) => {
      const seen = new Set<string>();
      for (const { metadata } of view.list(pod)) {
        const { uid = '', name } = metadata;
        if (gone.has(uid)) return `Pod ${name} was deleted and exists again`;
        seen.add(uid);
      }
      for (const uid of present) if (!seen.has(uid)) gone.add(uid);
      present = seen;
      return undefined;
    };
  },
};
