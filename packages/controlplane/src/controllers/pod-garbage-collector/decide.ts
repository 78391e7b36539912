import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { isBeingDeleted } from '@kruise/client/actions';
import { isConditionTrue, withCondition } from '@kruise/machinery/conditions';
import { isPodFinished } from '@kruise/machinery/pods';
import { compareStrings } from '@kruise/values/go-syntax';
import type { Instant } from '@kruise/values/time';

const outOfServiceKey = 'node.kubernetes.io/out-of-service';

/** Reason of a deletion, as shown in the Pod status. */
export type Removal = 'stranded' | 'orphaned' | 'surplus';

/** Returns the terminated Pods above the threshold: evicted Pods first, then the oldest. */
export function surplusOf(ended: readonly Pod[], threshold: number): readonly Pod[] {
  const count = ended.length - threshold;
  return threshold <= 0 || count <= 0 ? [] : [...ended].sort(byUse).slice(0, count);
}

function byUse(a: Pod, b: Pod): number {
  const isEvicted = ({ status }: Pod) => status?.phase === 'Failed' && status.reason === 'Evicted';
  return (
    Number(isEvicted(b)) - Number(isEvicted(a)) ||
    compareStrings(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
    compareStrings(a.metadata.name ?? '', b.metadata.name ?? '')
  );
}

/**
 * Reports whether a Pod is terminating without a kubelet: it has no node, or its node is out of service and not ready.
 */
export function isStranded(pod: Pod, node: Node | undefined): boolean {
  if (!isBeingDeleted(pod)) return false;
  if (!pod.spec?.nodeName) return true;
  return node !== undefined && isOutOfService(node);
}

/** Reports whether a node has the out-of-service taint and is not ready. */
export function isOutOfService({ spec, status }: Node): boolean {
  const isTainted = spec?.taints?.some(({ key }) => key === outOfServiceKey) ?? false;
  return isTainted && !isConditionTrue(status?.conditions, 'Ready');
}

/** Reports whether a Pod was force-deleted and only finalizers hold it. */
export function isForced(pod: Pod): boolean {
  return isBeingDeleted(pod) && pod.metadata.deletionGracePeriodSeconds === 0 && isPodFinished(pod);
}

/** Returns the final status of a Pod before its deletion; undefined if the Pod is finished and nothing changes. */
export function lastStatus(
  pod: Pod,
  removal: Removal,
  now: Instant,
): Pick<NonNullable<Pod['status']>, 'phase' | 'conditions'> | undefined {
  if (isPodFinished(pod)) return undefined;
  if (removal !== 'orphaned') return { phase: 'Failed' };
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByPodGC',
    message: 'PodGC: node no longer exists',
  } as const;
  return { phase: 'Failed', conditions: withCondition(pod.status?.conditions, condition, now) };
}
