import type { Draft } from '@kruise/schema/draft';
import type { Node } from './node.ts';
import { defaultResourceList } from './resources.default.ts';

/** All that a node has is for Pods, unless it says otherwise. */
export function defaultNode({ spec, status }: Draft<Node>): void {
  if (spec) mirrorPodCIDR(spec);
  if (!status) return;
  if (status.capacity && !status.allocatable) status.allocatable = { ...status.capacity };
  defaultResourceList(status.capacity);
  defaultResourceList(status.allocatable);
}

/** The older field for one block and the newer for several say the same; where they do not, the older is right. */
function mirrorPodCIDR(spec: Draft<NonNullable<Node['spec']>>): void {
  const [first] = spec.podCIDRs ?? [];
  if (spec.podCIDR && first !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  else if (first) spec.podCIDR = first;
}
