/** Defaults of DaemonSets. The template is not defaulted. */
import {
  type DaemonSet,
  type DaemonSetV1alpha1,
  type daemonSet,
  daemonSetV1alpha1,
} from '@kruise/api/kruise/daemonset';
import { isSame } from '@kruise/machinery/json-value';
import { templateAsWritten } from '../../webhooks/pod-template.default.ts';
import { typed } from '../../webhooks/typed.ts';

type AnyKind = typeof daemonSet | typeof daemonSetV1alpha1;
type AnySet = DaemonSet | DaemonSetV1alpha1;

export function defaultDaemonSet(kind: AnyKind, object: AnySet): AnySet {
  const given = typed(kind, object);
  const { burstReplicas = 250, revisionHistoryLimit = 10, updateStrategy = {}, template } = given.spec;
  const type = updateStrategy.type || 'RollingUpdate';
  const asked: Rolling = updateStrategy.rollingUpdate ?? {};
  const rollingUpdate = rollingDefaults(kind === daemonSetV1alpha1 ? withoutSurging(asked) : asked);
  const rolling = type === 'RollingUpdate' ? { rollingUpdate } : {};
  const filled = {
    ...given,
    spec: {
      ...given.spec,
      burstReplicas,
      revisionHistoryLimit,
      template: templateAsWritten(template),
      updateStrategy: { ...updateStrategy, type, ...rolling },
    },
  };
  // If nothing was defaulted, the object is returned as it was sent, with all its fields. The defaults fit the version.
  return isSame(given, filled) ? object : (filled as AnySet);
}

type Rolling = NonNullable<NonNullable<DaemonSetV1alpha1['spec']['updateStrategy']>['rollingUpdate']>;

/** Replaces the type `Surging`, an old name for Standard with maxSurge. */
function withoutSurging(rolling: Rolling): Rolling {
  if (rolling.rollingUpdateType !== 'Surging') return rolling;
  return { maxSurge: 1, maxUnavailable: 0, ...rolling, rollingUpdateType: 'Standard' };
}

function rollingDefaults(rolling: Rolling): Rolling {
  const { maxSurge, maxUnavailable, rollingUpdateType } = rolling;
  const isUnlimited = maxSurge === undefined && maxUnavailable === undefined;
  const limits = isUnlimited ? { maxUnavailable: 1, maxSurge: 0 } : {};
  return { ...rolling, rollingUpdateType: rollingUpdateType || 'Standard', ...limits };
}
