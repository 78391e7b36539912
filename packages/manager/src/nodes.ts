import type { Node } from '@kruise/api/core/node';
import { virtualKubeletLabel } from '@kruise/api/kruise/well-known';
import { findCondition } from '@kruise/machinery/conditions';
import { type Instant, parseTime } from '@kruise/values/time';

/** Whether a node is none of this cluster's own, and so has no daemon to do anything there. */
export function isVirtualNode({ metadata }: Node): boolean {
  return metadata.labels?.[virtualKubeletLabel] === 'virtual-kubelet';
}

/** Since when a node is ready; undefined while it is not. */
export function readyTimeOf({ status }: Node): Instant | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status !== 'True') return undefined;
  return ready.lastTransitionTime ? parseTime(ready.lastTransitionTime) : 0;
}
