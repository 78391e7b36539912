/** Derived state of one StatefulSet reconcile, computed once. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { isBeingDeleted } from '@kruise/client/actions';
import { isPodAvailable, isPodRunningAndReady } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';
import type { ManagerSettings } from '../configuration/settings.ts';
import type { Permissions } from '../workload/inplace/permission.ts';
import { lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import type { RevisionLabels } from '../workload/revision/pod-revision.ts';

/** A desired ordinal, with its existing Pod or the Pod to create. */
export type Slot = {
  readonly ordinal: number;
  readonly pod: Pod;
  /** Set where the Pod does not exist yet. */
  readonly isMissing: boolean;
};

export type State = {
  readonly settings: ManagerSettings;
  readonly now: Instant;
  readonly set: StatefulSet;
  /** Pods that the set controls, desired or not. */
  readonly pods: readonly Pod[];
  /** Desired ordinals, from the lowest up. */
  readonly slots: readonly Slot[];
  /** Pods with other ordinals, from the highest down. */
  readonly condemned: readonly { readonly ordinal: number; readonly pod: Pod }[];
  /** Existing revisions including the update revision, from the oldest to the newest. */
  readonly revisions: readonly ControllerRevision[];
  /** Revision that Pods are updated from, and revision that Pods are updated to; often the same. */
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  readonly revisionLabels: RevisionLabels;
  /** Pod updates that the API server accepts, as far as dry runs have shown. */
  readonly permissions: Permissions;
  readonly imagePullJobs: readonly ImagePullJob[];
  /** Find an object by name (PVCs and Pods in the set's namespace), whatever its owner. */
  readonly findClaim: (name: string) => PersistentVolumeClaim | undefined;
  readonly findPod: (name: string) => Pod | undefined;
  readonly findStorageClass: (name: string) => StorageClass | undefined;
};

export function isOrdered({ spec }: StatefulSet): boolean {
  return spec.podManagementPolicy !== 'Parallel';
}

export function minReadySecondsOf({ spec }: StatefulSet): number {
  return spec.updateStrategy?.rollingUpdate?.minReadySeconds ?? 0;
}

/** Reports whether a Pod is running and ready, waits in no hook and is not terminating. */
export function isHealthy(pod: Pod): boolean {
  return isPodRunningAndReady(pod) && hasNoPendingHook(pod) && !isBeingDeleted(pod);
}

/** Reports whether a Pod is available and waits in no hook. */
export function isAvailable(pod: Pod, { set, now }: Pick<State, 'set' | 'now'>): boolean {
  return isPodRunningAndReady(pod) && hasNoPendingHook(pod) && isPodAvailable(pod, minReadySecondsOf(set), now);
}

function hasNoPendingHook(pod: Pod): boolean {
  const state = lifecycleStateOf(pod);
  return state === undefined || state === 'Normal';
}
