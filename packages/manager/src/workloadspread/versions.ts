/**
 * Versions of Pods, which are counted apart: during a rolling update the Pods about to go must not take the places of
 * those that replace them (workloadspread.md §7.4). Only ReplicaSets have Pods of one version each.
 */
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import type { Pod } from '@kruise/api/core/pod';
import { sortByTemplate } from '@kruise/controlplane/controllers/deployment/replica-sets';
import { podRevisionLabel } from '@kruise/machinery/controller-revision';
import { controllerOf } from '@kruise/machinery/owner-references';
import { templateHashLabel } from '@kruise/machinery/template-hash';

/** The version of all Pods where versions are not told apart. */
export const oneVersion = 'versionIgnored';

const versionedOwners = new Set(['deployment', 'replicaset']);

export function versionOf(pod: Pod): string {
  const { labels = {} } = pod.metadata;
  if (!versionedOwners.has(controllerOf(pod)?.kind.toLowerCase() ?? '')) return oneVersion;
  return labels[templateHashLabel] ?? labels[podRevisionLabel]?.split('-').at(-1) ?? oneVersion;
}

/**
 * The version new Pods of a ReplicaSet have. One that stands alone has no label to tell it by, nor have its Pods: they
 * are all of its latest version, where the reference takes them for outdated.
 */
export function versionOfReplicaSet({ metadata }: ReplicaSet): string {
  return metadata.labels?.[templateHashLabel] ?? oneVersion;
}

/** The version new Pods of a Deployment have; undefined while it has no ReplicaSet for them. */
export function versionOfDeployment(deployment: Deployment, replicaSets: readonly ReplicaSet[]): string | undefined {
  const { newSet } = sortByTemplate(deployment, replicaSets);
  return newSet && versionOfReplicaSet(newSet);
}
