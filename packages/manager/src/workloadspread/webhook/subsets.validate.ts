/** Validation of the subsets of a WorkloadSpread. */
import { validateNodeSelectorTerm, validatePreferredTerms } from '@kruise/api/core/affinity.validate';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { validatePodSpec } from '@kruise/api/core/pod-spec.validate';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { validateTolerations } from '@kruise/api/core/toleration.validate';
import type { WorkloadSpreadSpec, WorkloadSpreadSubset } from '@kruise/api/kruise/workloadspread';
import { invalidIntOrString } from '@kruise/api/meta/go-value';
import type { JsonObject } from '@kruise/machinery/json-value';
import { StrategicMergeError } from '@kruise/machinery/strategic-merge-error';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import { DecodeError } from '@kruise/schema/codec';
import { type Cause, invalid, required } from '@kruise/schema/field-error';
import { stringifySorted } from '@kruise/values/go-json';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { withClaimVolumes } from '../../webhooks/claim-volumes.ts';
import { withTemplateDefaults } from '../../webhooks/pod-template.default.ts';
import { podType } from '../../workload/patch-pod.ts';

/** The Pod template and PVCs of a workload. */
export type Template = {
  readonly template: PodTemplateSpec;
  readonly claims: readonly PersistentVolumeClaim[];
  readonly gates: FeatureGates;
};

export function* validateSubsets(spec: WorkloadSpreadSpec, template: Template | undefined): Generator<Cause> {
  const { subsets } = spec;
  if (subsets.length === 0) return yield required('spec.subsets', 'subsets number must >= 1 in WorkloadSpread');
  const limits = limitsOf(spec);
  const names = new Set<string>();
  for (const [index, subset] of subsets.entries()) {
    const path = `spec.subsets[${index}]`;
    const { name } = subset;
    if (name === '') yield invalid(`${path}.name`, name, '');
    else if (names.has(name)) yield invalid(`${path}.name`, name, `duplicated subset name ${name}`);
    names.add(name);
    yield* validateNodes(subset, path);
    if (subset.patch && template) yield* validatePatch(subset.patch, template, `${path}.patch`);
    const fault = limits.faultOf(subset);
    // Invalid numbers are not compared with each other.
    if (fault) return yield invalidIntOrString(`${path}.maxReplicas`, subset.maxReplicas!, fault);
  }
  const [first] = subsets;
  if (limits.areIncomplete()) {
    const why = 'maxReplicas sum of all subsets must equal 100% when type is specified as percent';
    yield first!.maxReplicas === undefined
      ? invalid('spec.subsets[0].maxReplicas', null, why)
      : invalidIntOrString('spec.subsets[0].maxReplicas', first!.maxReplicas, why);
  }
}

function* validateNodes(subset: WorkloadSpreadSubset, path: string): Generator<Cause> {
  const { requiredNodeSelector, preferredNodeSelector = [], tolerations = [] } = subset;
  if (requiredNodeSelector) {
    yield* validateNodeSelectorTerm(requiredNodeSelector, 'label', `${path}.requiredNodeSelector`);
  }
  yield* validatePreferredTerms(preferredNodeSelector, `${path}.preferredNodeSelector`);
  yield* validateTolerations(tolerations, `${path}.tolerations`);
}

/** Validates that a patched Pod of the workload is still a valid Pod. */
function* validatePatch(patch: object, { template, claims, gates }: Template, path: string): Generator<Cause> {
  const text = stringifySorted(patch);
  try {
    const original = withClaimVolumes(template, claims);
    // Objects are plain JSON values with narrower types. A template has the fields of a Pod.
    const merged = applyStrategicMergePatch(original as JsonObject, patch as JsonObject, podType) as PodTemplateSpec;
    const { metadata = {}, spec } = withTemplateDefaults(merged, gates);
    yield* validatePodSpec(spec ?? { containers: [] }, metadata, path);
  } catch (error) {
    if (error instanceof StrategicMergeError) yield invalid(path, text, `failed to merge patch: ${error.message}`);
    else if (error instanceof DecodeError) yield invalid(path, text, `failed to unmarshal: ${error.message}`);
    else throw error;
  }
}

/** Returns the limits in `maxReplicas`: all numbers or all percentages, and percentages must sum up to 100%. */
function limitsOf({ subsets, targetRef }: WorkloadSpreadSpec) {
  const type = typeof subsets.find(({ maxReplicas }) => maxReplicas !== undefined)?.maxReplicas;
  let sum = 0;
  return {
    faultOf({ maxReplicas }: WorkloadSpreadSubset): string | undefined {
      if (maxReplicas === undefined) return undefined;
      if (typeof maxReplicas !== type) return 'the maxReplicas type of all subsets must be the same';
      const isText = typeof maxReplicas === 'string';
      if (isText && targetRef?.kind === 'StatefulSet') return 'the maxReplicas type must be Int for StatefulSet';
      const value = isText ? percentage(maxReplicas) : maxReplicas;
      if (value === undefined || value < 0) return 'maxReplicas is not valid for subset';
      if (isText) sum += value;
      return isText && sum > 100 ? "the sum of all subset's maxReplicas exceeds 100% is no permitted" : undefined;
    },
    areIncomplete: () => type === 'string' && sum < 100 && subsets.at(-1)?.maxReplicas !== undefined,
  };
}

/** Parses a percentage as OpenKruise does here, with or without a sign. */
function percentage(text: string): number | undefined {
  const digits = text.replaceAll('%', '');
  return /^[-+]?\d+$/.test(digits) ? Number(digits) : undefined;
}
