/**
 * Workloads of custom kinds that administrators allow. Their kinds are not known in advance, and there may be thousands
 * of objects without a WorkloadSpread: those with one are read live, one by one.
 */
import type { Pod } from '@kruise/api/core/pod';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Client } from '@kruise/client/client';
import type { KubernetesObject } from '@kruise/client/object-key';
import { NoScaleError, type ScaleTargets } from '@kruise/client/scale-targets';
import { parseSelector, type Selector } from '@kruise/machinery/label-selector';
import { isNotFound } from '@kruise/machinery/status';
import { ParseError } from '@kruise/values/parse-error';
import { integerAt } from './field-path.ts';
import type { Reference, Target } from './target.ts';
import { oneVersion } from './versions.ts';

/** Dependencies for live reads of custom workloads. */
export type LiveReads = {
  readonly client: Client;
  readonly kinds: ScaleTargets;
  readonly signal?: AbortSignal;
};

/** Reads a workload of any kind; undefined if it does not exist, or if the kind is not served. */
export async function readWorkload(
  { client, kinds, signal }: LiveReads,
  namespace: string,
  reference: Reference,
): Promise<KubernetesObject | undefined> {
  const kind = await kinds.kindOf(client, reference, signal);
  if (!kind) return undefined;
  const { name } = reference;
  try {
    return await client.get(kind, { namespace, name }, signal ? { signal } : {});
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Cached Pods of a namespace that may belong to a workload. */
export type CachedPods = {
  ownedBy(owner: KubernetesObject): readonly Pod[];
  selectedBy(selector: Selector): readonly Pod[];
};

/**
 * Returns a workload of any kind and its Pods. Its size is that of its scale subresource, if it has one, or is read
 * like that of a StatefulSet.
 */
export async function customTarget(
  reads: LiveReads,
  namespace: string,
  reference: Reference,
  { isLikeStatefulSet, pods }: { readonly isLikeStatefulSet: boolean; readonly pods: CachedPods },
): Promise<Target | undefined> {
  const object = await readWorkload(reads, namespace, reference);
  if (!object || isBeingDeleted(object)) return undefined;
  const scale = isLikeStatefulSet ? undefined : await scaleOf(reads, namespace, reference);
  const replicas = isLikeStatefulSet ? statefulReplicas(object) : (scale?.spec?.replicas ?? (scale ? 0 : unknown));
  if (replicas === 0) return { object, replicas, pods: [], latestVersion: oneVersion };
  const owned = pods.ownedBy(object);
  // A workload may own its Pods indirectly, as Deployments do.
  const isSelected = owned.length === 0 && scale?.status?.selector;
  const found = isSelected ? pods.selectedBy(parseSelector(scale.status.selector)) : owned;
  return { object, replicas, pods: found, latestVersion: oneVersion };
}

/** Replicas of a workload whose size cannot be determined. */
const unknown = -1;

async function scaleOf({ client, kinds, signal }: LiveReads, namespace: string, reference: Reference) {
  try {
    return await kinds.scaleOf(client, reference, namespace, signal);
  } catch (error) {
    if (error instanceof NoScaleError) return undefined;
    throw error;
  }
}

function statefulReplicas(object: KubernetesObject): number {
  try {
    return integerAt(object, 'spec.replicas');
  } catch (error) {
    if (error instanceof ParseError) return 0;
    throw error;
  }
}
