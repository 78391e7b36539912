import type { DaemonSetStatus } from '@kruise/api/apps/daemonset';
import type { Pod } from '@kruise/api/core/pod';
import { compareDaemonPods } from '@kruise/machinery/daemon-pods';
import { isPodAvailable, isPodReady } from '@kruise/machinery/pods';
import type { PlacementState, State } from './state.ts';

export function statusOf(state: State, collisionCount: number | undefined): DaemonSetStatus {
  const { set, minReadySeconds, now } = state;
  const { generation } = set.metadata;
  return {
    ...set.status,
    ...countNodes(state, (pod) => isPodAvailable(pod, minReadySeconds, now)),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  };
}

/**
 * Counts nodes: a node that should have a Pod counts by the Pod that is kept, other nodes with Pods count as
 * misscheduled.
 */
export function countNodes(
  { nodes, byNode, placement, isUpdated }: PlacementState,
  isAvailable: (pod: Pod) => boolean,
) {
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, updated: 0, available: 0 };
  for (const node of nodes) {
    const [pod] = (byNode.get(node.metadata.name ?? '') ?? []).toSorted(compareDaemonPods);
    if (!placement(node).shouldRun) {
      if (pod) counts.misscheduled++;
      continue;
    }
    counts.desired++;
    if (!pod) continue;
    counts.current++;
    if (isPodReady(pod)) counts.ready++;
    if (isAvailable(pod)) counts.available++;
    if (isUpdated(pod)) counts.updated++;
  }
  return {
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: counts.desired,
    numberReady: counts.ready,
    updatedNumberScheduled: counts.updated,
    numberAvailable: counts.available,
    numberUnavailable: counts.desired - counts.available,
  };
}
