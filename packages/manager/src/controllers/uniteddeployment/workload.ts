/** The workload of a domain: what the template makes of it, and the domain of that (uniteddeployment.md §10). */
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
import { type Sort, templateOf, type Workload, type WorkloadSpec } from './sorts.ts';
import { wholeTemplate } from './template.ts';

/** What the workload of a domain is to be. */
export type Target = {
  readonly subset: Subset;
  /** The name of the revision of the template. */
  readonly revision: string;
  readonly replicas: number;
  readonly partition: number;
  /** How many Pods may be unavailable while it is updated, where that is not for the template to say. */
  readonly maxUnavailable?: number;
};

/**
 * The workload of a domain, made anew or from the one there is, of which labels and annotations stay. Throws what is
 * wrong with the patch of the domain.
 */
export function workloadFor(owner: UnitedDeployment, sort: Sort, target: Target, present?: Workload): Workload {
  const { subset, revision } = target;
  const { metadata: given } = templateOf(wholeTemplate(owner.spec.template ?? {}), sort);
  const { matchLabels } = owner.spec.selector;
  const { namespace } = owner.metadata;
  const metadata = present?.metadata ?? (namespace === undefined ? {} : { namespace });
  const marks = { [unitedDeploymentRevisionLabel]: revision, [subsetNameLabel]: subset.name };
  return {
    apiVersion: apiVersionOf(sort.kind),
    kind: sort.kind.kind,
    ...present,
    metadata: {
      ...metadata,
      generateName: namePrefix(owner.metadata.name ?? '', subset.name),
      labels: { ...metadata.labels, ...given?.labels, ...matchLabels, ...marks },
      annotations: { ...metadata.annotations, ...given?.annotations, [subsetPatchAnnotation]: patchText(subset) },
      ownerReferences: withOwner(metadata.ownerReferences, controllerReference(owner)),
    },
    spec: specFor(owner, sort, target),
  };
}

/** The patch of a domain as it is noted on its workload; empty where there is none. */
export function patchText({ patch }: Subset): string {
  return patch == null ? '' : stringifySorted(patch);
}

/** What the names of workloads begin with: owner and domain, or only the owner where that could not be a name. */
function namePrefix(owner: string, subset: string): string {
  const prefix = `${owner}-${subset}-`;
  return validatePrefix(validateDns1123Subdomain, prefix).length === 0 ? prefix : `${owner}-`;
}

function specFor(owner: UnitedDeployment, sort: Sort, target: Target): WorkloadSpec {
  const { subset, replicas, partition, maxUnavailable } = target;
  const { spec } = templateOf(wholeTemplate(owner.spec.template ?? {}), sort);
  const { selector } = owner.spec;
  const strategy = sort.withPartition(spec[sort.strategy] ?? {}, partition);
  const opened =
    maxUnavailable === undefined || strategy.type === 'Recreate'
      ? strategy
      : { ...strategy, rollingUpdate: { ...strategy.rollingUpdate, maxUnavailable } };
  return {
    ...spec,
    replicas,
    selector: { ...selector, matchLabels: { ...selector.matchLabels, [subsetNameLabel]: subset.name } },
    [sort.strategy]: opened,
    template: podTemplateFor(spec.template ?? {}, target),
  };
}

const podTemplates = codecOf(podTemplateSpec);
const podTemplateType = mergeTypeOf(podTemplateSpec);

/** The Pod template with what the domain adds; its patch comes last, and so wins. */
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

/** Any one of the required terms is enough, so each has to ask for the nodes of the domain. */
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
