/** The ways Pods are looked up. An index is known by its function, so that controllers that share one share its cost. */
import type { Pod } from '@kruise/api/core/pod';

/** By the name of the node a Pod is on. */
export function byNode({ spec }: Pod): readonly string[] {
  return spec?.nodeName ? [spec.nodeName] : [];
}
