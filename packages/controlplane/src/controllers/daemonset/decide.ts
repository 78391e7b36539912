/** DaemonSet reconciler: one Pod on every eligible node, rolled to the current template. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { DaemonSet, DaemonSetStatus } from '@kruise/api/apps/daemonset';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { parallel, type Step } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { revisionLabelOf } from '@kruise/machinery/controller-revision';
import { placementOf } from '@kruise/machinery/daemon-pods';
import { isSame } from '@kruise/machinery/json-value';
import { secondsUntilAvailable } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';
import { backOffKey, reportEndedPods } from '@kruise/workload-kit/daemonset/ended-pods';
import { type ClaimedPods, claimPods, pruneRevisionHistory } from '@kruise/workload-kit/daemonset/history';
import { type PodChanges, placePods } from '@kruise/workload-kit/daemonset/placement';
import { isUpdatedBy, podsByNode, podsFor } from '@kruise/workload-kit/daemonset/pods';
import { rollingUpdateStep } from '@kruise/workload-kit/daemonset/rolling-update';
import { type State, updateBudget } from '@kruise/workload-kit/daemonset/state';
import { statusOf } from '@kruise/workload-kit/daemonset/status';
import type { DerivedState } from '@kruise/workload-kit/derived-state';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { createPod, deletePod, recordSelectingAll } from '@kruise/workload-kit/pod-control';
import { reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';

export type Observed = {
  readonly set: DaemonSet;
  readonly nodes: readonly Node[];
  /** Pods that the DaemonSet controls or may adopt. */
  readonly candidates: readonly Pod[];
  /** ControllerRevisions that the DaemonSet controls or may adopt. */
  readonly revisions: readonly ControllerRevision[];
  /** Returns the ControllerRevision with a name in the namespace, regardless of its owner. */
  readonly findRevision: (name: string) => ControllerRevision | undefined;
  /** Returns the remaining backoff of a key. */
  readonly remainingBackOffMs: (key: string, now: Instant) => number;
};

type Decided = Decision<DaemonSetStatus | undefined>;

/** State of one DaemonSet reconcile. */
type DaemonSetState = State & ClaimedPods;

/** Maximum number of Pods created or deleted in one reconcile. */
const burst = 250;

export function decide(observed: Observed, now: Instant): Decided {
  const { set, nodes } = observed;
  const { spec, metadata } = set;
  if (isSame(spec?.selector, {})) return { actions: [recordSelectingAll(set, 'daemon set')] };
  // The garbage collector deletes the revisions now, and without revisions the status cannot be computed.
  if (metadata.deletionTimestamp != null) return { actions: [] };

  const { state, upkeep, collisionCount } = deriveState(observed, now);
  const { pods, hash, minReadySeconds } = state;
  const placementResult = placePods(state);
  const isPlaced = placementResult.nodesNeedingPods.length === 0 && placementResult.podsToDelete.length === 0;
  const isRolling = spec?.updateStrategy?.type === 'RollingUpdate';
  // Nodes that miss a Pod or have a surplus Pod come first; the rolling update continues when the cache shows those
  // writes.
  const podChanges: PodChanges = isPlaced && isRolling ? rollingUpdateStep(state) : placementResult;
  const status = statusOf(state, collisionCount);
  return {
    actions: [
      ...upkeep,
      ...reportEndedPods(set, placementResult, now),
      ...podActions(set, hash, podChanges),
      ...pruneRevisionHistory(set, state),
    ],
    // Without the revision, updated Pods cannot be counted.
    status: ({ failures }) =>
      failures.some(({ action }) => 'object' in action && action.object.kind === 'ControllerRevision')
        ? set.status
        : status,
    ...earliestRequeue(
      secondsUntilAvailable(pods, minReadySeconds, now),
      placementResult.waitMs && placementResult.waitMs / 1000,
    ),
    // Creations and deletions already wait for their expectations.
    minIntervalMs:
      podChanges.nodesNeedingPods.length + podChanges.podsToDelete.length > 0 ? 0 : reconcileIntervalFor(nodes.length),
  };
}

function deriveState(observed: Observed, now: Instant): DerivedState<DaemonSetState> {
  const { set, nodes } = observed;
  const { state: claimed, ...rest } = claimPods(set, observed);
  const { pods, hash } = claimed;
  const state: DaemonSetState = {
    ...claimed,
    set,
    nodes,
    byNode: podsByNode(pods),
    placement: placementOf(set.spec?.template?.spec),
    hasHash: (pod) => revisionLabelOf(pod) === hash,
    isUpdated: isUpdatedBy(set, hash),
    allowsSurge: updateBudget(set, 1).maxSurge > 0,
    minReadySeconds: set.spec?.minReadySeconds ?? 0,
    remainingBackOffMs: (node) => observed.remainingBackOffMs(backOffKey(set, node), now),
    now,
  };
  return { ...rest, state };
}

/** Deletes come before creates: a failed create must not block the deletion of unwanted Pods. */
function podActions(set: DaemonSet, hash: string, { nodesNeedingPods, podsToDelete }: PodChanges): readonly Step[] {
  const podFor = podsFor(set, hash);
  return [
    ...parallel(podsToDelete.slice(0, burst).map((pod) => deletePod(set, pod))),
    ...parallel(nodesNeedingPods.slice(0, burst).map((node) => createPod(set, podFor(node)))),
  ];
}
