import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { isBeingDeleted } from '@kruise/client/actions';
import { isConditionTrue, withCondition } from '@kruise/machinery/conditions';
import { isPodFinished } from '@kruise/machinery/pods';
import { compareStrings } from '@kruise/values/go-syntax';
import type { Instant } from '@kruise/values/time';

const outOfServiceKey = 'node.kubernetes.io/out-of-service';

/** Why a Pod is removed, if that is to be seen of it while it goes. */
export type Removal = 'stranded' | 'orphaned' | 'surplus';

/** Pods that have ended, beyond as many as are kept to be looked at: those that were evicted first, then the oldest. */
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
 * Whether a Pod is on its way out with nobody there to end it: no node has it, or its node is said to be out of service
 * and is not ready either.
 */
export function isStranded(pod: Pod, node: Node | undefined): boolean {
  if (!isBeingDeleted(pod)) return false;
  if (!pod.spec?.nodeName) return true;
  return node !== undefined && isOutOfService(node);
}

/** Whether someone has said that a node is out of service, and it does not contradict. */
export function isOutOfService({ spec, status }: Node): boolean {
  const isSaid = spec?.taints?.some(({ key }) => key === outOfServiceKey) ?? false;
  return isSaid && !isConditionTrue(status?.conditions, 'Ready');
}

/** Whether all that can be done to have a Pod gone is done, and only finalizers hold it. */
export function isForced(pod: Pod): boolean {
  return isBeingDeleted(pod) && pod.metadata.deletionGracePeriodSeconds === 0 && isPodFinished(pod);
}

/** The status a Pod gets before it is removed; undefined if it has ended and nothing is to be said. */
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
