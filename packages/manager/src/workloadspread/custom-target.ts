/**
 * Workloads of kinds that administrators allow. Nothing is known of them when this is written, and there may be
 * thousands that nobody spreads: those that are spread are asked for, one by one (workloadspread.md §6, §7.1).
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

/** By whom, and of whom, custom workloads are asked for. */
export type Asking = {
  readonly client: Client;
  readonly kinds: ScaleTargets;
  readonly signal?: AbortSignal;
};

/** A workload of any kind; undefined if there is none of the name, or no such kind. */
export async function askForWorkload(
  { client, kinds, signal }: Asking,
  namespace: string,
  reference: Reference,
): Promise<KubernetesObject | undefined> {
  const kind = await kinds.kindOf(client, reference, signal);
  if (!kind) return undefined;
  const { name } = reference;
  try {
    return (await client.get(kind, { namespace, name }, signal ? { signal } : {})) as KubernetesObject;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The Pods of a namespace that a workload may have. */
export type PodsInSight = {
  ownedBy(owner: KubernetesObject): readonly Pod[];
  selectedBy(selector: Selector): readonly Pod[];
};

/** A workload of any kind and its Pods. How large it is it says by its scale, if it has one, or like a StatefulSet. */
export async function customTarget(
  asking: Asking,
  namespace: string,
  reference: Reference,
  { isLikeStatefulSet, pods }: { readonly isLikeStatefulSet: boolean; readonly pods: PodsInSight },
): Promise<Target | undefined> {
  const object = await askForWorkload(asking, namespace, reference);
  if (!object || isBeingDeleted(object)) return undefined;
  const scale = isLikeStatefulSet ? undefined : await scaleOf(asking, namespace, reference);
  const replicas = isLikeStatefulSet ? statefulReplicas(object) : (scale?.spec?.replicas ?? (scale ? 0 : unknown));
  if (replicas === 0) return { object, replicas, pods: [], latestVersion: oneVersion };
  const owned = pods.ownedBy(object);
  // A workload may leave its Pods to others, as Deployments do.
  const isSelected = owned.length === 0 && scale?.status?.selector;
  const found = isSelected ? pods.selectedBy(parseSelector(scale.status.selector)) : owned;
  return { object, replicas, pods: found, latestVersion: oneVersion };
}

/** How many Pods a workload is to have, where nothing says so. */
const unknown = -1;

async function scaleOf({ client, kinds, signal }: Asking, namespace: string, reference: Reference) {
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
