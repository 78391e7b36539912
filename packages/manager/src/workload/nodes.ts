import type { Node } from '@kruise/api/core/node';
import { virtualKubeletLabel } from '@kruise/api/kruise/well-known';
import { findCondition } from '@kruise/machinery/conditions';
import { type Instant, parseTime } from '@kruise/values/time';

/** Reports whether a node is a virtual node, which runs no kruise-daemon. */
export function isVirtualNode({ metadata }: Node): boolean {
  return metadata.labels?.[virtualKubeletLabel] === 'virtual-kubelet';
}

/** Returns the time since which a node is ready; undefined if it is not ready. */
export function readyTimeOf({ status }: Node): Instant | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status !== 'True') return undefined;
  return ready.lastTransitionTime ? parseTime(ready.lastTransitionTime) : 0;
}
