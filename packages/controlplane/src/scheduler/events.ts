/** Cluster events that may make a Pod schedulable. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { isSame } from '@kruise/machinery/json-value';
import { requestsOf } from './cluster/pod-info.ts';
import { amountOf } from './cluster/resources.ts';

export type EventResource =
  | 'Pod'
  | 'Node'
  | 'PersistentVolume'
  | 'PersistentVolumeClaim'
  | 'StorageClass'
  | 'CSINode'
  | 'CSIDriver'
  | 'CSIStorageCapacity'
  | 'VolumeAttachment';

export type EventAction =
  | 'Add'
  | 'Delete'
  | 'Update'
  | 'UpdateNodeAllocatable'
  | 'UpdateNodeLabel'
  | 'UpdateNodeTaint'
  | 'UpdatePodLabel'
  | 'UpdatePodScaleDown'
  | 'UpdatePodToleration'
  | 'UpdatePodSchedulingGatesEliminated';

/** A cluster event with the object before and after it. */
export type ClusterEvent<T = unknown> = {
  readonly resource: EventResource;
  readonly action: EventAction;
  readonly before?: T;
  readonly after?: T;
};

/** Returns the events of a node update. */
export function nodeEvents(before: Node, after: Node): readonly ClusterEvent<Node>[] {
  const actions = new Set<EventAction>();
  if (before.spec?.unschedulable && !after.spec?.unschedulable) actions.add('UpdateNodeTaint');
  if (!isSame(before.status?.allocatable, after.status?.allocatable)) actions.add('UpdateNodeAllocatable');
  if (!isSame(before.metadata.labels, after.metadata.labels)) actions.add('UpdateNodeLabel');
  if (!isSame(before.spec?.taints, after.spec?.taints)) actions.add('UpdateNodeTaint');
  return [...actions].map((action) => ({ resource: 'Node', action, before, after }));
}

/** Returns the events of a Pod update. */
export function podEvents(before: Pod, after: Pod): readonly ClusterEvent<Pod>[] {
  const actions: EventAction[] = [];
  if (!isSame(before.metadata.labels, after.metadata.labels)) actions.push('UpdatePodLabel');
  if (isScaledDown(before, after)) actions.push('UpdatePodScaleDown');
  if (before.spec?.schedulingGates?.length && !after.spec?.schedulingGates?.length) {
    actions.push('UpdatePodSchedulingGatesEliminated');
  }
  // Tolerations can be added, but neither changed nor removed.
  if ((before.spec?.tolerations?.length ?? 0) !== (after.spec?.tolerations?.length ?? 0)) {
    actions.push('UpdatePodToleration');
  }
  return actions.map((action) => ({ resource: 'Pod', action, before, after }));
}

/** Reports whether a Pod requests less of some resource than before. */
function isScaledDown(before: Pod, after: Pod): boolean {
  if (before.spec === after.spec && before.status?.containerStatuses === after.status?.containerStatuses) return false;
  const [had, has] = [requestsOf(before), requestsOf(after)];
  return ['cpu', 'memory', 'ephemeral-storage', ...had.others.keys()].some(
    (name) => amountOf(had, name) > amountOf(has, name),
  );
}
