import type { StatefulSetSpec as BuiltinStatefulSetSpec } from '@kruise/api/apps/statefulset';
import { validateNumberedTemplate, validateStatefulSetUpdate } from '@kruise/api/apps/statefulset.validate';
import { validatePodTemplateSpec } from '@kruise/api/core/pod-spec.validate';
import { validateEndless, validateSelected } from '@kruise/api/core/workload.validate';
import type { SubsetTemplate, UnitedDeploymentSpec } from '@kruise/api/kruise/uniteddeployment';
import { invalidStringMap, invalidStructure } from '@kruise/api/meta/go-value';
import type { LabelSelector } from '@kruise/api/meta/label-selector';
import { selects } from '@kruise/api/meta/label-selector.validate';
import { isSame } from '@kruise/api/meta/same';
import { nonNegative } from '@kruise/api/meta/value.validate';
import { type Cause, forbidden, invalid, required } from '@kruise/schema/field-error';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { withTemplateDefaults } from '../../webhooks/pod-template.default.ts';
import { wholeTemplate } from '../template.ts';
import { templateOf, workloadTypes } from '../workload-types.ts';

const path = 'spec.template';
const all = 'statefulSetTemplate, advancedStatefulSetTemplate, cloneSetTemplate, or deploymentTemplate';

/**
 * Requires exactly one template, without the fields that are set for each subset. A CloneSet template is not validated.
 */
export function* validateTemplate(
  { template = {}, selector }: UnitedDeploymentSpec,
  gates: FeatureGates,
): Generator<Cause> {
  const given = workloadTypes.filter((sort) => template[sort.template] != null);
  if (given.length === 0) yield required(path, `should provide one of ${all}`);
  if (given.length > 1) {
    yield invalidStructure(path, 'v1beta1.SubsetTemplate', template, `should provide only one of ${all}`);
  }
  const whole = wholeTemplate(template);
  const { statefulSetTemplate, advancedStatefulSetTemplate, deploymentTemplate } = whole;
  if (statefulSetTemplate) {
    yield* validateCommon(whole, 'statefulSetTemplate', selector);
    const { spec } = statefulSetTemplate;
    yield* within(`${path}.statefulSetTemplate.spec`, validateBuiltinSpec(normalized(spec, selector)));
  } else if (advancedStatefulSetTemplate) {
    yield* validateCommon(whole, 'advancedStatefulSetTemplate', selector);
    const pods = withTemplateDefaults(advancedStatefulSetTemplate.spec.template, gates);
    yield* within(`${path}.advancedStatefulSetTemplate.spec`, validateNumberedTemplate(selector, pods));
  } else if (deploymentTemplate) {
    yield* validateCommon(whole, 'deploymentTemplate', selector);
    const at = `${path}.deploymentTemplate.spec.template`;
    const pods = withTemplateDefaults(deploymentTemplate.spec.template, gates);
    yield* validateSelected(selector, pods, at);
    yield* validatePodTemplateSpec(pods, at);
    yield* validateEndless(pods, 'ReplicaSet', at);
  }
}

/** The labels must match the selector. Replicas and partition are not allowed, because each subset has its own. */
function* validateCommon(
  template: SubsetTemplate,
  name: 'statefulSetTemplate' | 'advancedStatefulSetTemplate' | 'deploymentTemplate',
  selector: LabelSelector,
): Generator<Cause> {
  const sort = workloadTypes.find((each) => each.template === name)!;
  const { metadata, spec } = templateOf(template, sort);
  if (!selects(selector, metadata?.labels)) {
    // Labels of both kinds of StatefulSets are reported under one name.
    const reportedName = name === 'deploymentTemplate' ? name : 'statefulSetTemplate';
    const detail = '`selector` does not match template `labels`';
    yield invalidStringMap(`${path}.${reportedName}.metadata.labels`, metadata?.labels, detail);
  }
  if (spec.replicas !== undefined) {
    yield invalid(`${path}.${name}.spec.replicas`, spec.replicas, `replicas in ${name} will not be used`);
  }
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  if (type === 'RollingUpdate' && rollingUpdate?.partition !== undefined) {
    const at = `${path}.${name}.spec.updateStrategy.rollingUpdate.partition`;
    yield invalid(at, rollingUpdate.partition, `partition in ${name} will not be used`);
  }
}

/** Returns the spec of the StatefulSets, as far as it is the same in every subset. */
function normalized(spec: BuiltinStatefulSetSpec, selector: LabelSelector): BuiltinStatefulSetSpec {
  const { podManagementPolicy, updateStrategy = {} } = spec;
  const { partition: _, ...rollingUpdate } = updateStrategy.rollingUpdate ?? {};
  return {
    ...spec,
    selector,
    replicas: 1,
    podManagementPolicy: podManagementPolicy || 'OrderedReady',
    updateStrategy: {
      ...updateStrategy,
      type: updateStrategy.type || 'RollingUpdate',
      ...(updateStrategy.rollingUpdate ? { rollingUpdate } : {}),
    },
  };
}

/** Validates the spec as Kubernetes validates an existing StatefulSet: only the name of its Service is unrestricted. */
function validateBuiltinSpec(spec: BuiltinStatefulSetSpec): Generator<Cause> {
  const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: {}, spec } as const;
  return validateStatefulSetUpdate(set, set);
}

/** Prefixes the paths of causes with the path of their spec. */
function* within(place: string, causes: Iterable<Cause>): Generator<Cause> {
  for (const cause of causes) {
    if (cause.field.startsWith('spec.')) yield { ...cause, field: `${place}${cause.field.slice('spec'.length)}` };
  }
}

/** Fields that are immutable in StatefulSets are immutable here, too. */
export function* validateTemplateUpdate(spec: UnitedDeploymentSpec, old: UnitedDeploymentSpec): Generator<Cause> {
  const [now, before] = [wholeTemplate(spec.template ?? {}), wholeTemplate(old.template ?? {})];
  if (now.statefulSetTemplate && before.statefulSetTemplate) {
    const part = (template: typeof now.statefulSetTemplate) => fixedPart(normalized(template.spec, spec.selector));
    if (!isSame(part(now.statefulSetTemplate), part(before.statefulSetTemplate))) {
      yield forbidden(
        `${path}.statefulSetTemplate.spec`,
        "updates to statefulsetTemplate spec for fields other than 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy', 'minReadySeconds' and 'ordinals' are forbidden",
      );
    }
  } else if (now.advancedStatefulSetTemplate && before.advancedStatefulSetTemplate) {
    const part = ({ spec: { replicas: _, template: _template, updateStrategy: _strategy, ...rest } }: Advanced) => rest;
    if (!isSame(part(now.advancedStatefulSetTemplate), part(before.advancedStatefulSetTemplate))) {
      yield forbidden(
        `${path}.advancedStatefulSetTemplate.spec`,
        "updates to advancedStatefulsetTemplate spec for fields other than 'template', and 'updateStrategy' are forbidden",
      );
    }
  }
  for (const sort of workloadTypes) {
    if (sort.name === 'CloneSet' || !now[sort.template] || !before[sort.template]) continue;
    yield* nonNegative(`${path}.${sort.template}.spec.replicas`, templateOf(now, sort).spec.replicas);
    return;
  }
}

type Advanced = NonNullable<SubsetTemplate['advancedStatefulSetTemplate']>;

function fixedPart({
  replicas: _,
  template: _template,
  updateStrategy: _strategy,
  minReadySeconds: _seconds,
  ordinals: _ordinals,
  persistentVolumeClaimRetentionPolicy: _policy,
  ...rest
}: BuiltinStatefulSetSpec): unknown {
  return rest;
}
