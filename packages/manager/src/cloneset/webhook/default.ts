/** Defaults of CloneSets. */
import { type CloneSet, type CloneSetV1alpha1, cloneSet, cloneSetV1alpha1 } from '@kruise/api/kruise/cloneset';
import { isSame } from '@kruise/machinery/json-value';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { withClaimDefaults, withTemplateDefaults } from '../../webhooks/pod-template.default.ts';
import { typed } from '../../webhooks/typed.ts';

type AnyCloneSet = CloneSet | CloneSetV1alpha1;

export function defaultCloneSet(object: CloneSet, old: CloneSet | undefined, gates: FeatureGates): CloneSet {
  const given = typed(cloneSet, object);
  const { updateStrategy = {}, ...spec } = withCommonDefaults(given, old && typed(cloneSet, old), gates).spec;
  const type = updateStrategy.type || 'RollingUpdate';
  const { rollingUpdate = {} } = updateStrategy;
  const podUpdatePolicy = rollingUpdate.podUpdatePolicy || 'ReCreate';
  const rolling = { ...rollingUpdate, podUpdatePolicy, ...limits(podUpdatePolicy, rollingUpdate) };
  const filled =
    type === 'RollingUpdate' ? { ...updateStrategy, type, rollingUpdate: rolling } : { ...updateStrategy, type };
  return unchangedIfSame(object, given, { ...given, spec: { ...spec, updateStrategy: filled } });
}

export function defaultCloneSetV1alpha1(
  object: CloneSetV1alpha1,
  old: CloneSetV1alpha1 | undefined,
  gates: FeatureGates,
): CloneSetV1alpha1 {
  const given = typed(cloneSetV1alpha1, object);
  const { updateStrategy = {}, ...spec } = withCommonDefaults(given, old && typed(cloneSetV1alpha1, old), gates).spec;
  const type = updateStrategy.type || 'ReCreate';
  const filled = { ...updateStrategy, type, ...limits(type, updateStrategy) };
  return unchangedIfSame(object, given, { ...given, spec: { ...spec, updateStrategy: filled } });
}

function withCommonDefaults<T extends AnyCloneSet>(given: T, old: T | undefined, gates: FeatureGates): T {
  const { template, volumeClaimTemplates, replicas = 1, revisionHistoryLimit = 10 } = given.spec;
  const isTemplateNew = old === undefined || !isSame(template, old.spec.template);
  const templates =
    isTemplateNew && !gates.TemplateNoDefaults
      ? {
          template: withTemplateDefaults(template, gates),
          ...(volumeClaimTemplates ? { volumeClaimTemplates: volumeClaimTemplates.map(withClaimDefaults) } : {}),
        }
      : {};
  return { ...given, spec: { ...given.spec, replicas, revisionHistoryLimit, ...templates } };
}

type Limits = Pick<
  NonNullable<NonNullable<CloneSet['spec']['updateStrategy']>['rollingUpdate']>,
  'partition' | 'maxUnavailable' | 'maxSurge' | 'inPlaceUpdateStrategy'
>;

function limits(
  policy: string,
  { partition = 0, maxUnavailable = '20%', maxSurge = 0, inPlaceUpdateStrategy }: Limits,
) {
  const isInPlace = policy === 'InPlaceIfPossible' || policy === 'InPlaceOnly';
  const inPlace = isInPlace ? { inPlaceUpdateStrategy: inPlaceUpdateStrategy ?? {} } : {};
  return { partition, maxUnavailable, maxSurge, ...inPlace };
}

/** Returns the object as it was sent, with all its fields, if nothing was defaulted. */
function unchangedIfSame<T>(object: T, given: T, filled: T): T {
  return isSame(given, filled) ? object : filled;
}
