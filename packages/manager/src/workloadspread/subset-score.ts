/** Score of an existing Pod for a subset. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpreadSubset } from '@kruise/api/kruise/workloadspread';
import { isSame, type JsonObject } from '@kruise/machinery/json-value';
import { nodesOfSelector, preferenceForNodes } from '@kruise/machinery/node-affinity';
import { StrategicMergeError } from '@kruise/machinery/strategic-merge-error';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import { isTolerated } from '@kruise/machinery/tolerations';
import { podType } from '../workload/patch-pod.ts';
import { bothOf } from './node-terms.ts';

/**
 * Returns the score; a higher score is a better match. Undefined if the subset does not allow the Pod's node. Node
 * preferences count most, then whether the Pod matches the subset's patch, then whether the subset has capacity left.
 */
export function subsetScore(pod: Pod, node: Node, subset: WorkloadSpreadSubset, capacity: number): number | undefined {
  if (!isAllowed(pod, node, subset)) return undefined;
  const preference = preferenceForNodes(subset.preferredNodeSelector)?.(node) ?? 0;
  return 100 * preference + (matchesPatch(pod, subset) ? 10 : 0) + (capacity > 0 ? 1 : 0);
}

function isAllowed({ spec }: Pod, node: Node, { tolerations = [], requiredNodeSelector }: WorkloadSpreadSubset) {
  const tolerated = [...(spec?.tolerations ?? []), ...tolerations];
  if (node.spec?.taints?.some((taint) => !isTolerated(taint, tolerated))) return false;
  if (!requiredNodeSelector) return true;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return nodesOfSelector({ nodeSelectorTerms: bothOf(required?.nodeSelectorTerms ?? [], requiredNodeSelector) })(node);
}

/** Reports whether the patch of the subset would change nothing. Annotations are ignored: others write them as well. */
function matchesPatch(pod: Pod, { patch }: WorkloadSpreadSubset): boolean {
  if (!patch) return false;
  try {
    // Objects are plain JSON values with more specific types.
    const patched = applyStrategicMergePatch(pod as JsonObject, patch as JsonObject, podType) as unknown as Pod;
    return isSame(withoutAnnotations(patched), withoutAnnotations(pod));
  } catch (error) {
    if (error instanceof StrategicMergeError) return false;
    throw error;
  }
}

function withoutAnnotations({ metadata: { annotations: _, ...metadata }, ...pod }: Pod): object {
  return { ...pod, metadata };
}
