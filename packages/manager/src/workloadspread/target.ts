/** The target workload of a WorkloadSpread, and the WorkloadSpreads of a workload. */
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
import type { CustomWorkload } from './allowlist.ts';
import { integerAt } from './field-path.ts';
import { oneVersion, versionOfDeployment, versionOfReplicaSet } from './versions.ts';

/** A reference to a workload, in a WorkloadSpread or an owner reference. */
export type Reference = { readonly apiVersion: string; readonly kind: string; readonly name: string };

/** The target workload of a WorkloadSpread. */
export type Target = {
  readonly object: KubernetesObject;
  /** The desired number of Pods; -1 if it is unknown. */
  readonly replicas: number;
  readonly pods: readonly Pod[];
  /** The version of newly created Pods; undefined while there is none. */
  readonly latestVersion?: string;
};

/** The workload kinds that are supported without configuration. */
const builtinKinds: readonly Kind[] = [cloneSet, deployment, replicaSet, job, statefulSet, advancedStatefulSet];

/** Returns the kind of a workload, if it is supported without configuration. */
export function builtinKindOf({ apiVersion, kind }: Omit<Reference, 'name'>): Kind | undefined {
  const group = groupOf(apiVersion);
  return builtinKinds.find((each) => each.kind === kind && each.group === group);
}

/** Returns the WorkloadSpreads of a workload, in any version, including those that are terminating. */
export function spreadsOf(caches: Caches, namespace: string, workload: Reference): readonly WorkloadSpread[] {
  return caches.of(workloadSpread).byIndex(byTarget, idOf(namespace, workload));
}

const byTarget = ({ metadata, spec }: WorkloadSpread) =>
  spec.targetRef ? [idOf(metadata.namespace ?? '', spec.targetRef)] : [];

function idOf(namespace: string, { apiVersion, kind, name }: Reference): string {
  return [namespace, groupOf(apiVersion), kind, name].join('/');
}

/** Returns a workload of a built-in kind with its Pods; undefined if there is none, or if it is terminating. */
export function builtinTarget(caches: Caches, kind: Kind, namespace: string, name: string): Target | undefined {
  const object = caches.of(kind).get({ namespace, name });
  if (!object) return undefined;
  if (kind === job) return targetOfJob(caches, object as Job);
  if (isBeingDeleted(object)) return undefined;
  const { replicas = 1 } = (object as Scaled).spec ?? {};
  const sets = kind === deployment ? replicaSetsOf(caches, object as Deployment) : [];
  const owners = sets.length > 0 ? sets : [object];
  // The remaining Pods of a workload with 0 replicas are ignored.
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

/** Applies the target filter of a WorkloadSpread: it may select some of the Pods, and give the path of their number. */
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

/** Returns the paths of the replicas in the workload; none if the default applies. */
export function replicasPaths(
  { targetRef, targetFilter }: WorkloadSpread['spec'],
  list: readonly CustomWorkload[],
): readonly string[] {
  const { replicasPathList = [] } = targetFilter ?? {};
  if (replicasPathList.length > 0) return replicasPathList;
  const entry = list.find((each) => each.kind === targetRef.kind && apiVersionOf(each) === targetRef.apiVersion);
  return entry ? [entry.replicasPath] : [];
}

/** Returns the sum of the integers at the paths of an object. Throws `ParseError`. */
export function sumAt(object: unknown, paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + integerAt(object, path), 0);
}
