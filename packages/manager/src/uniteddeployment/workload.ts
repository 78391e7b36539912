/** Workload of a subset, built from the template and the subset. */
import type { Affinity, NodeSelectorTerm } from '@kruise/api/core/affinity';
import { type PodTemplateSpec, podTemplateSpec } from '@kruise/api/core/pod-template';
import type { Subset, UnitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import { subsetNameLabel, subsetPatchAnnotation, unitedDeploymentRevisionLabel } from '@kruise/api/kruise/well-known';
import type { JsonObject } from '@kruise/machinery/json-value';
import { controllerReference, withOwner } from '@kruise/machinery/owner-references';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import { codecOf } from '@kruise/schema/codec';
import { apiVersionOf } from '@kruise/schema/kind';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import { stringifySorted } from '@kruise/values/go-json';
import { validateDns1123Subdomain, validatePrefix } from '@kruise/values/names';
import { wholeTemplate } from './template.ts';
import { templateOf, type Workload, type WorkloadSpec, type WorkloadType } from './workload-types.ts';

/** Desired state of a subset's workload. */
export type Target = {
  readonly subset: Subset;
  /** Name of the template's revision. */
  readonly revision: string;
  readonly replicas: number;
  readonly partition: number;
  /** Override of maxUnavailable during the update; the template's value where undefined. */
  readonly maxUnavailable?: number;
};

/**
 * Builds the workload of a subset, new or from the existing workload, which keeps its labels and annotations. Throws
 * where the patch of the subset is invalid.
 */
export function workloadFor(
  owner: UnitedDeployment,
  workloadType: WorkloadType,
  target: Target,
  present?: Workload,
): Workload {
  const { subset, revision } = target;
  const { metadata: given } = templateOf(wholeTemplate(owner.spec.template ?? {}), workloadType);
  const { matchLabels } = owner.spec.selector;
  const { namespace } = owner.metadata;
  const metadata = present?.metadata ?? (namespace === undefined ? {} : { namespace });
  const marks = { [unitedDeploymentRevisionLabel]: revision, [subsetNameLabel]: subset.name };
  return {
    apiVersion: apiVersionOf(workloadType.kind),
    kind: workloadType.kind.kind,
    ...present,
    metadata: {
      ...metadata,
      generateName: namePrefix(owner.metadata.name ?? '', subset.name),
      labels: { ...metadata.labels, ...given?.labels, ...matchLabels, ...marks },
      annotations: { ...metadata.annotations, ...given?.annotations, [subsetPatchAnnotation]: patchText(subset) },
      ownerReferences: withOwner(metadata.ownerReferences, controllerReference(owner)),
    },
    spec: specFor(owner, workloadType, target),
  };
}

/** Returns the patch of a subset as the workload's annotation has it; empty where there is none. */
export function patchText({ patch }: Subset): string {
  return patch == null ? '' : stringifySorted(patch);
}

/** Returns the generateName of workloads: owner and subset, or only the owner where both would be invalid. */
function namePrefix(owner: string, subset: string): string {
  const prefix = `${owner}-${subset}-`;
  return validatePrefix(validateDns1123Subdomain, prefix).length === 0 ? prefix : `${owner}-`;
}

function specFor(owner: UnitedDeployment, workloadType: WorkloadType, target: Target): WorkloadSpec {
  const { subset, replicas, partition, maxUnavailable } = target;
  const { spec } = templateOf(wholeTemplate(owner.spec.template ?? {}), workloadType);
  const { selector } = owner.spec;
  const strategy = workloadType.withPartition(spec[workloadType.strategy] ?? {}, partition);
  const opened =
    maxUnavailable === undefined || strategy.type === 'Recreate'
      ? strategy
      : { ...strategy, rollingUpdate: { ...strategy.rollingUpdate, maxUnavailable } };
  return {
    ...spec,
    replicas,
    selector: { ...selector, matchLabels: { ...selector.matchLabels, [subsetNameLabel]: subset.name } },
    [workloadType.strategy]: opened,
    template: podTemplateFor(spec.template ?? {}, target),
  };
}

const podTemplates = codecOf(podTemplateSpec);
const podTemplateType = mergeTypeOf(podTemplateSpec);

/** Returns the Pod template with the changes of the subset; the patch is applied last and takes precedence. */
function podTemplateFor(template: PodTemplateSpec, { subset, revision }: Target): PodTemplateSpec {
  const { nodeSelectorTerm, tolerations, patch } = subset;
  const { metadata, spec = { containers: [] } } = template;
  const placed: PodTemplateSpec = {
    ...template,
    metadata: {
      ...metadata,
      labels: { ...metadata?.labels, [subsetNameLabel]: subset.name, [unitedDeploymentRevisionLabel]: revision },
    },
    spec: {
      ...spec,
      ...(nodeSelectorTerm?.matchExpressions?.length ? { affinity: narrowed(spec.affinity, nodeSelectorTerm) } : {}),
      ...(tolerations ? { tolerations: [...(spec.tolerations ?? []), ...tolerations] } : {}),
    },
  };
  if (patch == null) return placed;
  // Templates and patches are plain JSON.
  return podTemplates.fromJson(applyStrategicMergePatch(placed as JsonObject, patch as JsonObject, podTemplateType));
}

const requiredTerms = 'requiredDuringSchedulingIgnoredDuringExecution';

/**
 * Adds the expressions of the subset to each required term: the terms are alternatives, so each must require the nodes
 * of the subset.
 */
function narrowed(affinity: Affinity | undefined, { matchExpressions = [] }: NodeSelectorTerm): Affinity {
  const required = affinity?.nodeAffinity?.[requiredTerms];
  const terms = required?.nodeSelectorTerms?.length ? required.nodeSelectorTerms : [{}];
  const nodeSelectorTerms = terms.map((term: NodeSelectorTerm) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), ...matchExpressions],
  }));
  const nodeAffinity = { ...affinity?.nodeAffinity, [requiredTerms]: { ...required, nodeSelectorTerms } };
  return { ...affinity, nodeAffinity };
}
