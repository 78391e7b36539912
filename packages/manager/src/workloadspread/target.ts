/** The workload a WorkloadSpread is for, and the WorkloadSpreads of a workload (workloadspread.md §7). */
import { type Deployment, deployment } from '@kruise/api/apps/deployment';
import { type ReplicaSet, replicaSet } from '@kruise/api/apps/replicaset';
import { statefulSet } from '@kruise/api/apps/statefulset';
import { type Job, job } from '@kruise/api/batch/job';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { statefulSet as advancedStatefulSet } from '@kruise/api/kruise/statefulset';
import { type WorkloadSpread, workloadSpread } from '@kruise/api/kruise/workloadspread';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Caches } from '@kruise/client/informer';
import type { KubernetesObject } from '@kruise/client/object-key';
import { selectorOf } from '@kruise/machinery/label-selector';
import { apiVersionOf, groupOf, type Kind } from '@kruise/schema/kind';
import { integerAt } from './field-path.ts';
import { oneVersion, versionOfDeployment, versionOfReplicaSet } from './versions.ts';
import type { CustomWorkload } from './white-list.ts';

/** A workload as WorkloadSpreads and owner references name it. */
export type Reference = { readonly apiVersion: string; readonly kind: string; readonly name: string };

/** What is known of the workload of a WorkloadSpread. */
export type Target = {
  readonly object: KubernetesObject;
  /** How many Pods it is to have; -1 where that cannot be told. */
  readonly replicas: number;
  readonly pods: readonly Pod[];
  /** The version of Pods that are made now; undefined while there is none. */
  readonly latestVersion?: string;
};

/** The kinds everybody may spread. */
const usualKinds: readonly Kind[] = [cloneSet, deployment, replicaSet, job, statefulSet, advancedStatefulSet];

/** The kind of a workload, if it is one of those everybody may spread. */
export function usualKindOf({ apiVersion, kind }: Omit<Reference, 'name'>): Kind | undefined {
  const group = groupOf(apiVersion);
  return usualKinds.find((each) => each.kind === kind && each.group === group);
}

/** The WorkloadSpreads of a workload, whatever version of it they name; those being deleted as well. */
export function spreadsOf(caches: Caches, namespace: string, workload: Reference): readonly WorkloadSpread[] {
  return caches.of(workloadSpread).byIndex(byTarget, idOf(namespace, workload));
}

const byTarget = ({ metadata, spec }: WorkloadSpread) =>
  spec.targetRef ? [idOf(metadata.namespace ?? '', spec.targetRef)] : [];

function idOf(namespace: string, { apiVersion, kind, name }: Reference): string {
  return [namespace, groupOf(apiVersion), kind, name].join('/');
}

/** A workload of a usual kind, with its Pods; undefined where there is none, or none that is to stay. */
export function usualTarget(caches: Caches, kind: Kind, namespace: string, name: string): Target | undefined {
  // Objects of these kinds have what all objects have.
  const object = caches.of(kind).get({ namespace, name }) as KubernetesObject | undefined;
  if (!object) return undefined;
  if (kind === job) return targetOfJob(caches, object as Job);
  if (isBeingDeleted(object)) return undefined;
  const { replicas = 1 } = (object as Scaled).spec ?? {};
  const sets = kind === deployment ? replicaSetsOf(caches, object as Deployment) : [];
  const owners = sets.length > 0 ? sets : [object];
  // What a workload without replicas still has is not spread any more.
  const pods = replicas === 0 ? [] : owners.flatMap((owner) => caches.of(pod).ownedBy(owner));
  if (kind === replicaSet) return { object, replicas, pods, latestVersion: versionOfReplicaSet(object as ReplicaSet) };
  if (kind !== deployment) return { object, replicas, pods, latestVersion: oneVersion };
  const latestVersion = versionOfDeployment(object as Deployment, sets);
  return { object, replicas, pods, ...(latestVersion === undefined ? {} : { latestVersion }) };
}

type Scaled = KubernetesObject & { readonly spec?: { readonly replicas?: number } };

function targetOfJob(caches: Caches, object: Job): Target {
  const { selector, parallelism = 1 } = object.spec ?? {};
  const { matches } = selectorOf(selector);
  const pods = caches
    .of(pod)
    .ownedBy(object)
    .filter(({ metadata }) => matches(metadata.labels));
  return { object, replicas: parallelism, pods, latestVersion: oneVersion };
}

function replicaSetsOf(caches: Caches, object: Deployment): readonly ReplicaSet[] {
  const { matches } = selectorOf(object.spec?.selector);
  const sets = caches.of(replicaSet).controlledBy(object);
  return sets.filter((set) => !isBeingDeleted(set) && matches(set.metadata.labels));
}

/** The target as its WorkloadSpread looks at it: only some of its Pods, and their number where it is said (§7.2, §7.3). */
export function filtered(target: Target, { spec }: WorkloadSpread, list: readonly CustomWorkload[]): Target {
  const selector = spec.targetFilter?.selector;
  const { matches } = selectorOf(selector ?? {});
  const paths = replicasPaths(spec, list);
  return {
    ...target,
    ...(selector ? { pods: target.pods.filter(({ metadata }) => matches(metadata.labels)) } : {}),
    ...(paths.length > 0 ? { replicas: sumAt(target.object, paths) } : {}),
  };
}

/** Where in the workload to find how many Pods are spread; nowhere in particular if there are none. */
export function replicasPaths(
  { targetRef, targetFilter }: WorkloadSpread['spec'],
  list: readonly CustomWorkload[],
): readonly string[] {
  const { replicasPathList = [] } = targetFilter ?? {};
  if (replicasPathList.length > 0) return replicasPathList;
  const entry = list.find((each) => each.kind === targetRef.kind && apiVersionOf(each) === targetRef.apiVersion);
  return entry ? [entry.replicasPath] : [];
}

/** The integers at the paths of an object, together. Throws `ParseError`. */
export function sumAt(object: unknown, paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + integerAt(object, path), 0);
}
