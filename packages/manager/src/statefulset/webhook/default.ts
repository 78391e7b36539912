/** Defaults of StatefulSets. */
import {
  type StatefulSet,
  type StatefulSetV1alpha1,
  statefulSet,
  type statefulSetV1alpha1,
} from '@kruise/api/kruise/statefulset';
import { isSame } from '@kruise/machinery/json-value';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import {
  claimAsWritten,
  templateAsWritten,
  withClaimDefaults,
  withTemplateDefaults,
} from '../../webhooks/pod-template.default.ts';
import { typed } from '../../webhooks/typed.ts';

type AnyKind = typeof statefulSet | typeof statefulSetV1alpha1;
type AnySet = StatefulSet | StatefulSetV1alpha1;

/** Returns the StatefulSet with defaults. Fields that v1alpha1 lacks get no defaults in its objects. */
export function defaultStatefulSet(
  kind: AnyKind,
  object: AnySet,
  old: AnySet | undefined,
  gates: FeatureGates,
): AnySet {
  const given = typed(kind, object);
  const { template, volumeClaimTemplates, updateStrategy = {}, replicas = 1, revisionHistoryLimit = 10 } = given.spec;
  const isTemplateNew = old === undefined || !isSame(template, typed(kind, old).spec.template);
  const fills = isTemplateNew && !gates.TemplateNoDefaults;
  const claimOf = fills ? withClaimDefaults : claimAsWritten;
  const filled = {
    ...given,
    spec: {
      ...given.spec,
      podManagementPolicy: given.spec.podManagementPolicy || ('OrderedReady' as const),
      updateStrategy: strategyDefaults(updateStrategy),
      ...(kind === statefulSet ? claimDefaults(given.spec, gates) : {}),
      replicas,
      revisionHistoryLimit,
      template: fills ? withTemplateDefaults(template, gates) : templateAsWritten(template),
      ...(volumeClaimTemplates ? { volumeClaimTemplates: volumeClaimTemplates.map(claimOf) } : {}),
    },
  };
  // Clients omit the status. If nothing else was defaulted, the object is returned as it was sent, with all its fields.
  return object.status === undefined && isSame(given, filled) ? object : filled;
}

type Strategy = NonNullable<AnySet['spec']['updateStrategy']>;

function strategyDefaults(strategy: Strategy): Strategy {
  const type = strategy.type || 'RollingUpdate';
  if (type !== 'RollingUpdate') return { ...strategy, type };
  const { partition = 0, maxUnavailable = 1, podUpdatePolicy, minReadySeconds = 0 } = strategy.rollingUpdate ?? {};
  const limits = { partition, maxUnavailable, podUpdatePolicy: podUpdatePolicy || 'ReCreate', minReadySeconds };
  return { ...strategy, type, rollingUpdate: { ...strategy.rollingUpdate, ...limits } };
}

/** Returns the defaults of PVC fields, as far as feature gates enable them. */
function claimDefaults(spec: Partial<StatefulSet['spec']>, gates: FeatureGates) {
  const { whenDeleted, whenScaled } = spec.persistentVolumeClaimRetentionPolicy ?? {};
  const retention = { whenDeleted: whenDeleted || 'Retain', whenScaled: whenScaled || 'Retain' } as const;
  const type = spec.volumeClaimUpdateStrategy?.type || ('OnDelete' as const);
  return {
    ...(gates.StatefulSetAutoDeletePVC ? { persistentVolumeClaimRetentionPolicy: retention } : {}),
    ...(gates.StatefulSetAutoResizePVCGate ? { volumeClaimUpdateStrategy: { type } } : {}),
  };
}
