/** Defaults of UnitedDeployments. */
import type { StatefulSetSpec } from '@kruise/api/apps/statefulset';
import type {
  Subset,
  SubsetTemplate,
  UnitedDeployment,
  UnitedDeploymentV1alpha1,
} from '@kruise/api/kruise/uniteddeployment';
import { isSame } from '@kruise/machinery/json-value';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { withClaimDefaults, withTemplateDefaults } from '../../webhooks/pod-template.default.ts';
import { wholeTemplate } from '../template.ts';

export type AnyUnitedDeployment = UnitedDeployment | UnitedDeploymentV1alpha1;

/** Returns the UnitedDeployment with defaults. The status in the request is dropped. */
export function defaultUnitedDeployment(
  given: AnyUnitedDeployment,
  old: AnyUnitedDeployment | undefined,
  gates: FeatureGates,
): AnyUnitedDeployment {
  const { replicas = 1, revisionHistoryLimit = 10, updateStrategy = {}, topology, template = {} } = given.spec;
  const isTemplateNew = !old || !isSame(wholeTemplate(template), wholeTemplate(old.spec.template ?? {}));
  const fills = isTemplateNew && !gates.TemplateNoDefaults;
  const type = updateStrategy.type || 'Manual';
  const filled = {
    ...given,
    spec: {
      ...given.spec,
      replicas,
      revisionHistoryLimit,
      updateStrategy: {
        ...updateStrategy,
        type,
        ...(type === 'Manual' ? { manualUpdate: updateStrategy.manualUpdate ?? {} } : {}),
      },
      ...(topology ? { topology: { ...topology, ...leastReplicas(topology.subsets) } } : {}),
      template: fills ? templateDefaults(template, gates) : template,
    },
  };
  if (isSame(given, filled) && !hasFigures(given)) return given;
  const { status: _, ...sent } = filled;
  // If anything changes, the whole object is written as Go's types write it.
  return { ...sent, spec: { ...filled.spec, template: wholeTemplate(filled.spec.template) } };
}

/** Reports whether the status has any non-zero value. A status of zeros counts as no status. */
function hasFigures({ status }: AnyUnitedDeployment): boolean {
  return Object.values(status ?? {}).some(Boolean);
}

/** If one subset has minReplicas or maxReplicas, all subsets get minReplicas. */
function leastReplicas(subsets: readonly Subset[] | undefined): { readonly subsets?: readonly Subset[] } {
  if (!subsets) return {};
  const isElastic = subsets.some((subset) => subset.minReplicas !== undefined || subset.maxReplicas !== undefined);
  const isSpecific = subsets.some((subset) => subset.replicas !== undefined);
  if (!isElastic || isSpecific) return { subsets };
  return { subsets: subsets.map((subset) => ({ ...subset, minReplicas: subset.minReplicas ?? 0 })) };
}

/**
 * Sets defaults of Pod and PVC templates of Kubernetes' StatefulSets. Other workloads get their defaults when they are
 * created.
 */
function templateDefaults(template: SubsetTemplate, gates: FeatureGates): SubsetTemplate {
  const { statefulSetTemplate } = template;
  if (!statefulSetTemplate) return template;
  const { spec } = statefulSetTemplate;
  const { volumeClaimTemplates } = spec;
  const filled: StatefulSetSpec = {
    ...spec,
    template: withTemplateDefaults(spec.template ?? {}, gates),
    ...(volumeClaimTemplates ? { volumeClaimTemplates: volumeClaimTemplates.map(withClaimDefaults) } : {}),
  };
  return { ...template, statefulSetTemplate: { ...statefulSetTemplate, spec: filled } };
}
