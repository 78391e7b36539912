/** All that a CloneSet's next steps are decided by, worked out once: its Pods, its revisions, and how Pods are told apart. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import type { PodUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import type { Instant } from '@kruise/values/time';
import type { Permissions } from '../../inplace/permission.ts';
import type { RevisionLabels } from '../../revision/pod-revision.ts';
import type { ManagerSettings } from '../../settings.ts';
import type { Counting } from './numbers.ts';

export type Situation = {
  readonly settings: ManagerSettings;
  readonly now: Instant;
  readonly cloneSet: CloneSet;
  /** The Pods that count. */
  readonly pods: readonly Pod[];
  /** The claims that may be given to new Pods, or go with those they belong to. */
  readonly claims: readonly PersistentVolumeClaim[];
  /** The jobs it had fetch images. */
  readonly imagePullJobs: readonly ImagePullJob[];
  /** The revisions there are, the update revision among them, from the oldest to the newest. */
  readonly revisions: readonly ControllerRevision[];
  /** The revision Pods come from, and the one they go to; often the same. */
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  readonly revisionLabels: RevisionLabels;
  /** Updates of Pods that the server permits, as far as dry runs have shown. */
  readonly permissions: Permissions;
  /** The labels of a node; none where it is not known. */
  readonly nodeLabels: (name: string) => { readonly [label: string]: string } | undefined;
  /** The PodUnavailableBudget of a name in its namespace. */
  readonly budgetNamed: (name: string) => PodUnavailableBudget | undefined;
  readonly isUpdated: (pod: Pod) => boolean;
  /** As `isUpdated`, but whoever is about to be updated may count as well. */
  readonly isUpdatedForScaling: (pod: Pod) => boolean;
  readonly isAvailable: (pod: Pod) => boolean;
  readonly isSpecifiedDelete: (pod: Pod) => boolean;
  /** Whether all Pods that are to be updated can be in place, and that is to come before any are made ahead. */
  readonly sparesSurge: boolean;
};

export function nameOf({ metadata }: ControllerRevision): string {
  return metadata.name ?? '';
}

/** How Pods are counted, where these are at the update revision. */
export function countingOf(situation: Situation, isNew: (pod: Pod) => boolean): Counting {
  const { settings, cloneSet, current, update, isAvailable, isSpecifiedDelete, sparesSurge } = situation;
  return {
    isNew,
    isAvailable,
    isSpecifiedDelete,
    sparesSurge,
    canRollBack: settings.gates.CloneSetPartitionRollback && nameOf(current) !== nameOf(update),
    excludesPreparingDelete:
      settings.cloneSetExcludesPreparingDelete || (cloneSet.spec.scaleStrategy?.excludePreparingDelete ?? false),
  };
}
