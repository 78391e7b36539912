/** Revisions of a StatefulSet: which revision a new Pod is created from, and which revisions are pruned. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import { nameOfRevision, podTemplateOf, revisionLabelOf } from '@kruise/machinery/controller-revision';
import type { Instant } from '@kruise/values/time';
import { memberOf } from '@kruise/workload-kit/statefulset/identity';
import type { ManagerSettings } from '../configuration/settings.ts';
import { isAllHooked, lifecycleStateOf, stateMetadata } from '../workload/lifecycle/lifecycle.ts';
import { shortHash } from '../workload/revision/pod-revision.ts';
import { partitionOf } from './numbers.ts';
import { startOrdinalOf } from './ordinals.ts';
import type { Slot } from './state.ts';

/** Input of new Pods. */
export type Blueprints = {
  readonly set: StatefulSet;
  readonly settings: ManagerSettings;
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  readonly now: Instant;
};

/** Reports whether a Pod is at the update revision or, with the feature gate, about to be updated. */
export function isUpdatedForScaling({ settings, update }: Blueprints, pod: Pod): boolean {
  if (settings.gates.PreparingUpdateAsUpdate && lifecycleStateOf(pod) === 'PreparingUpdate') return true;
  return shortHash(revisionLabelOf(pod)) === shortHash(nameOfRevision(update));
}

/**
 * Returns the desired ordinals with their Pods. An ordinal without a Pod gets a new Pod at the revision that the
 * partition selects.
 */
export function fillSlots(
  blueprints: Blueprints,
  wanted: readonly number[],
  present: ReadonlyMap<number, Pod>,
): readonly Slot[] {
  const isOld = (pod: Pod) => !isUpdatedForScaling(blueprints, pod);
  let old = [...present.values()].filter(isOld).length;
  return wanted.map((ordinal, index) => {
    const pod = present.get(ordinal);
    if (pod) return { ordinal, pod, isMissing: false };
    const revision = staysAtCurrent(blueprints, { ordinal, index, old }) ? blueprints.current : blueprints.update;
    const made = newPod(blueprints, ordinal, revision);
    if (isOld(made)) old++;
    return { ordinal, pod: made, isMissing: true };
  });
}

type Position = {
  readonly ordinal: number;
  /** Number of desired ordinals before this one. */
  readonly index: number;
  /** Number of other Pods that are at an old revision. */
  readonly old: number;
};

/** Reports whether an ordinal stays at the current revision. */
function staysAtCurrent({ set, settings }: Blueprints, { ordinal, index, old }: Position): boolean {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type !== 'RollingUpdate') return false;
  if (!rollingUpdate) return ordinal < startOrdinalOf(set, settings.gates) + (set.status?.currentReplicas ?? 0);
  return (rollingUpdate.unorderedUpdate ? old : index) < partitionOf(set);
}

/** Builds a Pod with its ordinal, at a revision. */
export function newPod({ set, settings, now }: Blueprints, ordinal: number, revision: ControllerRevision): Pod {
  const template = podTemplateOf(revision) ?? set.spec.template;
  const isIndexed = settings.gates.PodIndexLabel;
  const pod = memberOf(set, ordinal, template, nameOfRevision(revision), { isIndexed });
  const { preNormal } = set.spec.lifecycle ?? {};
  const marks = stateMetadata(preNormal && !isAllHooked(preNormal, pod) ? 'PreparingNormal' : 'Normal', now);
  const { metadata } = pod;
  return {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...marks.labels },
      annotations: { ...metadata.annotations, ...marks.annotations },
    },
  };
}
