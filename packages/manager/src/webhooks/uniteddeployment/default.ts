/** What a UnitedDeployment is taken to mean where it says nothing (uniteddeployment.md §3). */
import type { StatefulSetSpec } from '@kruise/api/apps/statefulset';
import type {
  Subset,
  SubsetTemplate,
  UnitedDeployment,
  UnitedDeploymentV1alpha1,
} from '@kruise/api/kruise/uniteddeployment';
import { isSame } from '@kruise/machinery/json-value';
import { wholeTemplate } from '../../controllers/uniteddeployment/template.ts';
import type { FeatureGates } from '../../feature-gates.ts';
import { withClaimDefaults, withTemplateDefaults } from '../pod-template.default.ts';

export type AnyUnitedDeployment = UnitedDeployment | UnitedDeploymentV1alpha1;

/** The UnitedDeployment with what was left out. What it reports of itself is not for whoever writes it to say. */
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
  // Where something changes all of it is written as Go's types do.
  return { ...sent, spec: { ...filled.spec, template: wholeTemplate(filled.spec.template) } };
}

/** Whether anything is reported; figures that are none are as good as no report. */
function hasFigures({ status }: AnyUnitedDeployment): boolean {
  return Object.values(status ?? {}).some(Boolean);
}

/** Where one domain has a least or a most, all have a least. */
function leastReplicas(subsets: readonly Subset[] | undefined): { readonly subsets?: readonly Subset[] } {
  if (!subsets) return {};
  const isElastic = subsets.some((subset) => subset.minReplicas !== undefined || subset.maxReplicas !== undefined);
  const isSpecific = subsets.some((subset) => subset.replicas !== undefined);
  if (!isElastic || isSpecific) return { subsets };
  return { subsets: subsets.map((subset) => ({ ...subset, minReplicas: subset.minReplicas ?? 0 })) };
}

/** Pods and volume claims of StatefulSets of Kubernetes; other workloads are filled in when they are made. */
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
