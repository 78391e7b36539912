/** Validation of PersistentPodStates. */
import type { PersistentPodState, PersistentPodStateSpec } from '@kruise/api/kruise/persistentpodstate';
import { invalidStructure } from '@kruise/api/meta/go-value';
import { isSame } from '@kruise/machinery/json-value';
import { type Cause, forbidden } from '@kruise/schema/field-error';
import type { KindName } from '../../configuration/kruise-configuration.ts';
import { isListed, isStatefulSet } from '../allowlist.ts';

export type Surroundings = {
  readonly whiteList: readonly KindName[];
  /** Other PersistentPodStates of the same workload. */
  readonly rivals: readonly PersistentPodState[];
  readonly old?: PersistentPodState | undefined;
};

export function* validatePersistentPodState(state: PersistentPodState, surroundings: Surroundings): Generator<Cause> {
  const { whiteList, rivals, old } = surroundings;
  const { spec, metadata } = state;
  yield* validateSpec(spec, whiteList);
  if (old && !isSame(spec.targetRef, old.spec.targetRef)) {
    yield forbidden('spec.targetRef', 'targetRef is immutable');
  }
  const rival = rivals.find((each) => each.metadata.name !== metadata.name);
  if (rival) {
    yield invalidTarget(spec, `targetRef is in conflict with other PersistentPodState ${rival.metadata.name}`);
  }
}

function* validateSpec(spec: PersistentPodStateSpec, whiteList: readonly KindName[]): Generator<Cause> {
  const { targetRef, requiredPersistentTopology, preferredPersistentTopology = [] } = spec;
  if (!targetRef.apiVersion || !targetRef.kind || !targetRef.name) {
    yield invalidTarget(spec, 'empty targetRef is not valid for PersistentPodState.');
  }
  if (!isStatefulSet(targetRef) && !isListed(whiteList, targetRef)) {
    yield invalidTarget(spec, 'targetRef.Kind must be StatefulSet or in PPS_Watch_Custom_Workload_WhiteList');
  }
  if (!requiredPersistentTopology && preferredPersistentTopology.length === 0) {
    const why = 'TopologyConstraint and TopologyPreference cannot be empty at the same time';
    yield invalidStructure('spec', 'v1beta1.PersistentPodStateSpec', spec, why);
  }
}

function invalidTarget({ targetRef: { apiVersion, ...rest } }: PersistentPodStateSpec, why: string): Cause {
  const shown = { APIVersion: apiVersion, ...rest };
  return invalidStructure('spec.targetRef', 'v1beta1.TargetReference', shown, why);
}
