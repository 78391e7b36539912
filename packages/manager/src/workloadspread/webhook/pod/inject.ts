/** Fields that a Pod gets from its subset. */
import type { NodeAffinity } from '@kruise/api/core/affinity';
import type { Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import type { WorkloadSpread, WorkloadSpreadSubset } from '@kruise/api/kruise/workloadspread';
import type { JsonObject } from '@kruise/machinery/json-value';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import { podType } from '../../../workload/patch-pod.ts';
import { bothOf } from '../../node-terms.ts';
import { placementAnnotation } from '../../placement.ts';
import type { SubsetAssignment } from '../../subset-allocation.ts';

/**
 * Returns the Pod with the fields of its subset; unchanged if there is no such subset. Throws `StrategicMergeError`.
 */
export function withSubsetFields(
  pod: Pod,
  { metadata, spec }: WorkloadSpread,
  { subset: name, uid }: SubsetAssignment,
): Pod {
  const subset = spec.subsets.find((each) => each.name === name);
  if (!subset) return pod;
  const patched = withPatch({ ...pod, spec: scheduled(pod.spec ?? { containers: [] }, subset) }, subset);
  const { labels = {}, annotations } = patched.metadata;
  const placement = placementAnnotation({ name: metadata.name ?? '', subset: name, uid });
  return { ...patched, metadata: { ...patched.metadata, labels, annotations: { ...annotations, ...placement } } };
}

function scheduled(spec: PodSpec, subset: WorkloadSpreadSubset): PodSpec {
  const { tolerations = [], preferredNodeSelector = [], requiredNodeSelector } = subset;
  const { nodeAffinity } = spec.affinity ?? {};
  const {
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
    requiredDuringSchedulingIgnoredDuringExecution: required,
  } = nodeAffinity ?? {};
  const added: NodeAffinity = {
    ...(preferredNodeSelector.length > 0
      ? { preferredDuringSchedulingIgnoredDuringExecution: [...preferred, ...preferredNodeSelector] }
      : {}),
    ...(requiredNodeSelector
      ? {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: bothOf(required?.nodeSelectorTerms ?? [], requiredNodeSelector),
          },
        }
      : {}),
  };
  const isPlaced = Object.keys(added).length > 0;
  return {
    ...spec,
    ...(tolerations.length > 0 ? { tolerations: [...(spec.tolerations ?? []), ...tolerations] } : {}),
    ...(isPlaced ? { affinity: { ...spec.affinity, nodeAffinity: { ...nodeAffinity, ...added } } } : {}),
  };
}

function withPatch(pod: Pod, { patch }: WorkloadSpreadSubset): Pod {
  if (!patch) return pod;
  // Objects are plain JSON values with narrower types.
  const patched = applyStrategicMergePatch(pod as JsonObject, patch as JsonObject, podType) as unknown as Pod;
  if (!patched.spec || patched.spec.priorityClassName === pod.spec?.priorityClassName) return patched;
  // The priority belongs to the previous class. The server computes it again if it is missing.
  const { priority: _, ...spec } = patched.spec;
  return { ...patched, spec };
}
