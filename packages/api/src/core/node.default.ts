import type { Draft } from '@kruise/schema/draft';
import type { Node } from './node.ts';
import { defaultResourceList } from './resources.default.ts';

/** The allocatable resources of a node default to its capacity. */
export function defaultNode({ spec, status }: Draft<Node>): void {
  if (spec) mirrorPodCIDR(spec);
  if (!status) return;
  if (status.capacity && !status.allocatable) status.allocatable = { ...status.capacity };
  defaultResourceList(status.capacity);
  defaultResourceList(status.allocatable);
}

/** Keeps `podCIDR` and `podCIDRs` consistent. If they differ, `podCIDR` wins. */
function mirrorPodCIDR(spec: Draft<NonNullable<Node['spec']>>): void {
  const [first] = spec.podCIDRs ?? [];
  if (spec.podCIDR && first !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  else if (first) spec.podCIDR = first;
}
