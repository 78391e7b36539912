/**
 * Versions of Pods, which are counted separately: during a rolling update, old Pods must not take the places of the
 * Pods that replace them. Only ReplicaSets have Pods of one version each.
 */
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import type { Pod } from '@kruise/api/core/pod';
import { podRevisionLabel } from '@kruise/machinery/controller-revision';
import { controllerOf } from '@kruise/machinery/owner-references';
import { templateHashLabel } from '@kruise/machinery/template-hash';
import { sortByTemplate } from '@kruise/workload-kit/replica-sets';

/** The version of all Pods where versions are not distinguished. */
export const oneVersion = 'versionIgnored';

const versionedOwners = new Set(['deployment', 'replicaset']);

export function versionOf(pod: Pod): string {
  const { labels = {} } = pod.metadata;
  if (!versionedOwners.has(controllerOf(pod)?.kind.toLowerCase() ?? '')) return oneVersion;
  return labels[templateHashLabel] ?? labels[podRevisionLabel]?.split('-').at(-1) ?? oneVersion;
}

/**
 * Returns the version of newly created Pods of a ReplicaSet. A standalone ReplicaSet and its Pods have no label for it:
 * all are of the latest version, whereas OpenKruise takes them for outdated.
 */
export function versionOfReplicaSet({ metadata }: ReplicaSet): string {
  return metadata.labels?.[templateHashLabel] ?? oneVersion;
}

/** Returns the version of newly created Pods of a Deployment; undefined while it has no ReplicaSet for them. */
export function versionOfDeployment(deployment: Deployment, replicaSets: readonly ReplicaSet[]): string | undefined {
  const { newSet } = sortByTemplate(deployment, replicaSets);
  return newSet && versionOfReplicaSet(newSet);
}
