/** Derived state of one DaemonSet reconcile, computed once. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { DaemonSet } from '@kruise/api/kruise/daemonset';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodAvailable } from '@kruise/machinery/pods';
import type { PlacementState } from '@kruise/workload-kit/daemonset/state';
import type { ManagerSettings } from '../configuration/settings.ts';
import type { Permissions } from '../workload/inplace/permission.ts';
import { lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { hasReadinessGate } from '../workload/readiness/pod-readiness.ts';
import type { RevisionLabels } from '../workload/revision/pod-revision.ts';

export type State = PlacementState & {
  readonly set: DaemonSet;
  readonly settings: ManagerSettings;
  /** Pods that the DaemonSet controls. */
  readonly pods: readonly Pod[];
  /** Hash label of Pods at the current template. */
  readonly hash: string;
  /** Revision of the current template, and the older revisions. */
  readonly current: ControllerRevision;
  readonly old: readonly ControllerRevision[];
  readonly revisionLabels: RevisionLabels;
  /** Pod updates that the API server accepts, as far as dry runs have shown. */
  readonly permissions: Permissions;
  readonly imagePullJobs: readonly ImagePullJob[];
};

/**
 * Reports whether a Pod is available and not in an in-place update: the kubelet may report the Pod as ready before it
 * observes the update. OpenKruise relies on the kubelet's report.
 */
export function isAvailable(pod: Pod, { minReadySeconds, now }: Pick<State, 'minReadySeconds' | 'now'>): boolean {
  return isPodAvailable(pod, minReadySeconds, now) && !isBeingUpdated(pod);
}

function isBeingUpdated(pod: Pod): boolean {
  const gate = findCondition(pod.status?.conditions, inPlaceUpdateReadyCondition);
  return hasReadinessGate(pod, inPlaceUpdateReadyCondition) && gate !== undefined && gate.status !== 'True';
}

/** Reports whether a Pod waits in the preDelete hook. */
export function isPreDeleting(pod: Pod): boolean {
  return lifecycleStateOf(pod) === 'PreparingDelete';
}
