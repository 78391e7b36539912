/** All that a DaemonSet's next steps are decided by, worked out once. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { DaemonSet } from '@kruise/api/kruise/daemonset';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import type { NodeSituation } from '@kruise/controlplane/controllers/daemonset/situation';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodAvailable } from '@kruise/machinery/pods';
import type { Permissions } from '../../inplace/permission.ts';
import { lifecycleStateOf } from '../../lifecycle/lifecycle.ts';
import { hasReadinessGate } from '../../readiness/pod-readiness.ts';
import type { RevisionLabels } from '../../revision/pod-revision.ts';
import type { ManagerSettings } from '../../settings.ts';

export type Situation = NodeSituation & {
  readonly set: DaemonSet;
  readonly settings: ManagerSettings;
  /** The Pods it has. */
  readonly pods: readonly Pod[];
  /** The hash that Pods of the present template carry. */
  readonly hash: string;
  /** The revision of the present template, and those of others. */
  readonly current: ControllerRevision;
  readonly old: readonly ControllerRevision[];
  readonly revisionLabels: RevisionLabels;
  /** Updates of Pods that the server permits, as far as dry runs have shown. */
  readonly permissions: Permissions;
  readonly imagePullJobs: readonly ImagePullJob[];
};

/**
 * Whether a Pod has been ready for so long that it can be relied on, and is not being updated in place: its kubelet may
 * call it ready before it hears of that (daemonset.md §5.7 goes by what the kubelet says).
 */
export function isAvailable(pod: Pod, { minReadySeconds, now }: Pick<Situation, 'minReadySeconds' | 'now'>): boolean {
  return isPodAvailable(pod, minReadySeconds, now) && !isBeingUpdated(pod);
}

function isBeingUpdated(pod: Pod): boolean {
  const gate = findCondition(pod.status?.conditions, inPlaceUpdateReadyCondition);
  return hasReadinessGate(pod, inPlaceUpdateReadyCondition) && gate !== undefined && gate.status !== 'True';
}

/** Whether a Pod waits in the hook before its deletion. */
export function isPreDeleting(pod: Pod): boolean {
  return lifecycleStateOf(pod) === 'PreparingDelete';
}
