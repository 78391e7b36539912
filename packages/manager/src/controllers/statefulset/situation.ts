/** All that a StatefulSet's next steps are decided by, worked out once. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { isBeingDeleted } from '@kruise/client/actions';
import { isPodAvailable, isPodReady } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';
import type { Permissions } from '../../inplace/permission.ts';
import { lifecycleStateOf } from '../../lifecycle/lifecycle.ts';
import type { RevisionLabels } from '../../revision/pod-revision.ts';
import type { ManagerSettings } from '../../settings.ts';

/** A number that is to have a Pod, and the Pod it has or is to get. */
export type Slot = {
  readonly ordinal: number;
  readonly pod: Pod;
  /** Whether the Pod is still to be made. */
  readonly isNew: boolean;
};

export type Situation = {
  readonly settings: ManagerSettings;
  readonly now: Instant;
  readonly set: StatefulSet;
  /** The Pods it has, wanted or not. */
  readonly pods: readonly Pod[];
  /** The numbers that are wanted, from the lowest up. */
  readonly slots: readonly Slot[];
  /** Pods with other numbers, from the highest down. */
  readonly condemned: readonly { readonly ordinal: number; readonly pod: Pod }[];
  /** The revisions there are, the update revision among them, from the oldest to the newest. */
  readonly revisions: readonly ControllerRevision[];
  /** The revision Pods come from, and the one they go to; often the same. */
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  readonly revisionLabels: RevisionLabels;
  /** Updates of Pods that the server permits, as far as dry runs have shown. */
  readonly permissions: Permissions;
  readonly imagePullJobs: readonly ImagePullJob[];
  /** What has a name in the set's namespace, whoever it belongs to. */
  readonly findClaim: (name: string) => PersistentVolumeClaim | undefined;
  readonly findPod: (name: string) => Pod | undefined;
  readonly findStorageClass: (name: string) => StorageClass | undefined;
};

export function nameOf({ metadata }: ControllerRevision): string {
  return metadata.name ?? '';
}

export function isOrdered({ spec }: StatefulSet): boolean {
  return spec.podManagementPolicy !== 'Parallel';
}

export function minReadySecondsOf({ spec }: StatefulSet): number {
  return spec.updateStrategy?.rollingUpdate?.minReadySeconds ?? 0;
}

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isPodReady(pod);
}

/** Whether a Pod runs, is ready, waits in no hook and is not on its way out. */
export function isHealthy(pod: Pod): boolean {
  return isRunningAndReady(pod) && isUnheld(pod) && !isBeingDeleted(pod);
}

/** Whether a Pod has been ready for so long that it can be relied on, and waits in no hook. */
export function isAvailable(pod: Pod, { set, now }: Pick<Situation, 'set' | 'now'>): boolean {
  return isRunningAndReady(pod) && isUnheld(pod) && isPodAvailable(pod, minReadySecondsOf(set), now);
}

function isUnheld(pod: Pod): boolean {
  const state = lifecycleStateOf(pod);
  return state === undefined || state === 'Normal';
}
