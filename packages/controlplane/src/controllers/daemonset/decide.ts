/** DaemonSet reconciler: one Pod on every eligible node, rolled to the current template. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { DaemonSet, DaemonSetStatus } from '@kruise/api/apps/daemonset';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { parallel, record, type Step } from '@kruise/client/actions';
import { claimActions } from '@kruise/client/adoption';
import type { Decision } from '@kruise/client/controller';
import { claimsOf } from '@kruise/machinery/claims';
import { revisionLabelOf } from '@kruise/machinery/controller-revision';
import { placementOf } from '@kruise/machinery/daemon-pods';
import { isSame } from '@kruise/machinery/json-value';
import { selectorOf } from '@kruise/machinery/label-selector';
import { secondsUntilAvailable } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';
import { backOffKey, reportEndedPods } from '@kruise/workload-kit/daemonset/ended-pods';
import { historyOf, pruneRevisionHistory } from '@kruise/workload-kit/daemonset/history';
import { type PodChanges, placePods } from '@kruise/workload-kit/daemonset/placement';
import { isUpdatedBy, podsByNode, podsFor } from '@kruise/workload-kit/daemonset/pods';
import { rollingUpdateStep } from '@kruise/workload-kit/daemonset/rolling-update';
import { type State, updateBudget } from '@kruise/workload-kit/daemonset/state';
import { statusOf } from '@kruise/workload-kit/daemonset/status';
import { createPod, deletePod } from '@kruise/workload-kit/pod-control';
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

/** Maximum number of Pods created or deleted in one reconcile. */
const burst = 250;

export function decide(observed: Observed, now: Instant): Decided {
  const { set, nodes, candidates, revisions, findRevision } = observed;
  const { spec, metadata } = set;
  if (isSame(spec?.selector, {})) return refuseToSelectAll(set);
  // The garbage collector deletes the revisions now, and without revisions the status cannot be computed.
  if (metadata.deletionTimestamp != null) return { actions: [] };

  const selector = selectorOf(spec?.selector);
  const matches = (child: Pod | ControllerRevision) => selector.matches(child.metadata.labels);
  const revisionClaims = claimsOf(set, revisions, matches);
  const podClaims = claimsOf(set, candidates, matches);
  const pods = podClaims.claimed;
  const history = historyOf(set, revisionClaims.claimed, pods, findRevision);
  const { hash, collisionCount } = history;

  const minReadySeconds = spec?.minReadySeconds ?? 0;
  const state: State = {
    set,
    nodes,
    byNode: podsByNode(pods),
    placement: placementOf(spec?.template?.spec),
    hasHash: (pod) => revisionLabelOf(pod) === hash,
    isUpdated: isUpdatedBy(set, hash),
    allowsSurge: updateBudget(set, 1).maxSurge > 0,
    minReadySeconds,
    remainingBackOffMs: (node) => observed.remainingBackOffMs(backOffKey(set, node), now),
    now,
  };
  const placementResult = placePods(state);
  const isPlaced = placementResult.nodesNeedingPods.length === 0 && placementResult.podsToDelete.length === 0;
  const isRolling = spec?.updateStrategy?.type === 'RollingUpdate';
  // Nodes that miss a Pod or have a surplus Pod come first; the rolling update continues when the cache shows those
  // writes.
  const podChanges: PodChanges = isPlaced && isRolling ? rollingUpdateStep(state) : placementResult;
  const waits = [
    secondsUntilAvailable(pods, minReadySeconds, now),
    placementResult.waitMs && placementResult.waitMs / 1000,
  ].filter((seconds) => seconds !== undefined);
  const status = statusOf(state, collisionCount);
  return {
    actions: [
      ...claimActions(set, revisionClaims),
      ...history.actions,
      ...claimActions(set, podClaims),
      ...reportEndedPods(set, placementResult, now),
      ...podActions(set, hash, podChanges),
      ...pruneRevisionHistory(set, history.old, pods),
    ],
    // Without the revision, updated Pods cannot be counted.
    status: ({ failures }) =>
      failures.some(({ action }) => 'object' in action && action.object.kind === 'ControllerRevision')
        ? set.status
        : status,
    ...(waits.length > 0 ? { requeueAfterSeconds: Math.min(...waits) } : {}),
    // Creations and deletions already wait for their expectations.
    minIntervalMs:
      podChanges.nodesNeedingPods.length + podChanges.podsToDelete.length > 0 ? 0 : reconcileIntervalFor(nodes.length),
  };
}

function refuseToSelectAll(set: DaemonSet): Decided {
  const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
  return { actions: [record({ about: set, type: 'Warning', reason: 'SelectingAll', message })] };
}

/** Deletes come before creates: a failed create must not block the deletion of unwanted Pods. */
function podActions(set: DaemonSet, hash: string, { nodesNeedingPods, podsToDelete }: PodChanges): readonly Step[] {
  const podFor = podsFor(set, hash);
  return [
    ...parallel(podsToDelete.slice(0, burst).map((pod) => deletePod(set, pod))),
    ...parallel(nodesNeedingPods.slice(0, burst).map((node) => createPod(set, podFor(node)))),
  ];
}
