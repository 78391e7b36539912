/** Derived state of one CloneSet reconcile, computed once: Pods, PVCs, revisions, and predicates on Pods. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import type { PodUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { nameOfRevision } from '@kruise/machinery/controller-revision';
import type { Instant } from '@kruise/values/time';
import type { ManagerSettings } from '../configuration/settings.ts';
import type { Permissions } from '../workload/inplace/permission.ts';
import type { RevisionLabels } from '../workload/revision/pod-revision.ts';
import type { Counting } from './numbers.ts';

export type State = {
  readonly settings: ManagerSettings;
  readonly now: Instant;
  readonly cloneSet: CloneSet;
  /** Pods that count. */
  readonly pods: readonly Pod[];
  /** PVCs that new Pods may use, or that are deleted with their Pods. */
  readonly claims: readonly PersistentVolumeClaim[];
  /** ImagePullJobs that the CloneSet created. */
  readonly imagePullJobs: readonly ImagePullJob[];
  /** Existing revisions including the update revision, from the oldest to the newest. */
  readonly revisions: readonly ControllerRevision[];
  /** Revision that Pods are updated from, and revision that Pods are updated to; often the same. */
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  readonly revisionLabels: RevisionLabels;
  /** Pod updates that the API server accepts, as far as dry runs have shown. */
  readonly permissions: Permissions;
  /** Returns the labels of a node; undefined where the node is unknown. */
  readonly nodeLabels: (name: string) => { readonly [label: string]: string } | undefined;
  /** Finds a PodUnavailableBudget by name in the CloneSet's namespace. */
  readonly findBudget: (name: string) => PodUnavailableBudget | undefined;
  readonly isUpdated: (pod: Pod) => boolean;
  /** Like `isUpdated`, but Pods that are about to be updated may count as well. */
  readonly isUpdatedForScaling: (pod: Pod) => boolean;
  readonly isAvailable: (pod: Pod) => boolean;
  readonly isSpecifiedDelete: (pod: Pod) => boolean;
  /** Set where all outdated Pods can be updated in place, and in-place updates come before surge Pods. */
  readonly skipsSurge: boolean;
};

/** Returns the counting options, with a predicate for Pods at the update revision. */
export function countingOf(state: State, isUpdatedPod: (pod: Pod) => boolean): Counting {
  const { settings, cloneSet, current, update, isAvailable, isSpecifiedDelete, skipsSurge } = state;
  return {
    isUpdatedPod,
    isAvailable,
    isSpecifiedDelete,
    skipsSurge,
    canRollBack: settings.gates.CloneSetPartitionRollback && nameOfRevision(current) !== nameOfRevision(update),
    excludesPreparingDelete:
      settings.cloneSetExcludesPreparingDelete || (cloneSet.spec.scaleStrategy?.excludePreparingDelete ?? false),
  };
}
