/** PVC expansion during a StatefulSet's rolling update. PVCs never shrink. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { StatefulSetStatus } from '@kruise/api/kruise/statefulset';
import { ownedByStatefulSetAnnotation } from '@kruise/api/kruise/well-known';
import { type Action, isBeingDeleted, record, update, withOutcomeEvents } from '@kruise/client/actions';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { compareQuantities, parseQuantity, zeroQuantity } from '@kruise/values/quantity';
import { claimName } from '@kruise/workload-kit/statefulset/identity';
import type { Slot, State } from './state.ts';

/** Reports whether PVCs are expanded as Pods are updated. */
export function resizesClaims({ set, settings }: State): boolean {
  return (
    settings.gates.StatefulSetAutoResizePVCGate && set.spec.volumeClaimUpdateStrategy?.type === 'OnPodRollingUpdate'
  );
}

type Pair = { readonly claim: PersistentVolumeClaim; readonly template: PersistentVolumeClaim };

/** Returns the PVCs of an ordinal that are not terminating, each with its template. */
function pairsOf({ set, findClaim }: State, { ordinal }: Pick<Slot, 'ordinal'>): readonly Pair[] {
  return (set.spec.volumeClaimTemplates ?? []).flatMap((template) => {
    const claim = findClaim(claimName(set, template.metadata.name, ordinal));
    return claim && !isBeingDeleted(claim) ? [{ claim, template }] : [];
  });
}

/** Reports whether all PVCs of a Pod match their templates and are large enough. */
export function areClaimsCompatible(state: State, slot: Slot): boolean {
  return pairsOf(state, slot).every(isCompatible);
}

/** Reports whether all volumes of a Pod are as large as their PVCs request. */
export function areClaimsReady(state: State, slot: Slot): boolean {
  return pairsOf(state, slot).every((pair) => isSameKind(pair) && isExpanded(pair));
}

/** Reports whether the PVCs of a Pod need nothing more, except for what needs the Pod itself. */
export function areClaimsDone(state: State, slot: Slot): boolean {
  return pairsOf(state, slot).every(
    (pair) => isCompatible(pair) && (isExpanded(pair) || isFileSystemResizePending(pair)),
  );
}

/** Reports whether a PVC has the storage class and the access modes of a template. */
export function isSameKind({ claim, template }: Pair): boolean {
  const [has, wants] = [claim, template].map(({ spec }) => spec ?? {});
  if (has!.storageClassName != null && wants!.storageClassName != null) {
    if (has!.storageClassName !== wants!.storageClassName) return false;
  }
  const [modes, wanted] = [has!.accessModes ?? [], wants!.accessModes ?? []];
  return modes.length === wanted.length && modes.every((mode, index) => mode === wanted[index]);
}

function isTooSmall({ claim, template }: Pair): boolean {
  return compareQuantities(requestOf(claim), requestOf(template)) < 0;
}

function isCompatible(pair: Pair): boolean {
  return isSameKind(pair) && !isTooSmall(pair);
}

function isExpanded({ claim }: Pair): boolean {
  return compareQuantities(quantity(claim.status?.capacity?.['storage']), requestOf(claim)) >= 0;
}

/** Reports whether the volume is expanded and its file system waits to be expanded until a Pod uses the volume. */
function isFileSystemResizePending({ claim }: Pair): boolean {
  return isConditionTrue(claim.status?.conditions, 'FileSystemResizePending');
}

function requestOf({ spec }: PersistentVolumeClaim) {
  return quantity(spec?.resources?.requests?.['storage']);
}

function quantity(text: string | undefined) {
  return text === undefined ? zeroQuantity : parseQuantity(text);
}

/**
 * Actions that expand PVCs; with a fault where an expansion is impossible, and then only the actions before the fault.
 */
export type Resizing = { readonly actions: readonly Action[]; readonly fault?: string };

/** Expands the PVCs of a Pod to the size in the templates. */
export function resizeClaims(state: State, slot: Slot): Resizing {
  const { set } = state;
  const actions: Action[] = [];
  for (const pair of pairsOf(state, slot).filter((each) => !isCompatible(each))) {
    const { name } = pair.claim.metadata;
    if (!isSameKind(pair)) {
      const why = `pvc ${name}: contains diff other than spec resource, wait pvc to be deleted`;
      const message = `failed to update ${why}`;
      actions.push(record({ about: set, type: 'Warning', reason: 'FailedUpdatePVC', message }));
      return { actions, fault: `can not patch ${why}` };
    }
    const fault = expansionFault(state, pair.claim, slot.pod);
    if (fault) return { actions, fault };
    actions.push(resize(state, pair, slot.pod));
  }
  return { actions };
}

function expansionFault({ findStorageClass }: State, { spec }: PersistentVolumeClaim, { metadata }: Pod) {
  const name = spec?.storageClassName;
  if (name == null) return undefined;
  const found = findStorageClass(name);
  if (!found) return `could not get sc ${name} for ${metadata.name} when checking PVC spec`;
  if (found.allowVolumeExpansion) return undefined;
  return `storage class ${name} for ${metadata.name} does not support volume expansion`;
}

function resize({ set }: State, { claim, template }: Pair, pod: Pod): Action {
  const { metadata, spec } = claim;
  const { name: setName = '' } = set.metadata;
  const annotations = { ...metadata.annotations, [ownedByStatefulSetAnnotation]: setName };
  const resources = template.spec?.resources;
  const expanded = {
    ...claim,
    metadata: { ...metadata, annotations },
    spec: { ...spec, ...(resources ? { resources } : {}) },
  };
  const inSet = `Pod ${pod.metadata.name} in StatefulSet ${setName}`;
  return withOutcomeEvents(update(expanded), {
    about: set,
    done: { reason: 'SuccessfulResize', message: `resize Claim ${metadata.name} ${inSet} success` },
    failed: { reason: 'FailedResize', message: `resize Claim ${metadata.name} for ${inSet} failed error: {error}` },
  });
}

/** Returns the progress of each volume claim template across the Pods. */
export function volumeClaimsOf(
  state: State,
  slots: readonly Pick<Slot, 'ordinal'>[],
): NonNullable<StatefulSetStatus['volumeClaims']> {
  const pairs = slots.flatMap((slot) => pairsOf(state, slot));
  return (state.set.spec.volumeClaimTemplates ?? []).map((template) => {
    const compatible = pairs.filter((pair) => pair.template === template && isCompatible(pair));
    return {
      volumeClaimName: template.metadata.name ?? '',
      compatibleReplicas: compatible.length,
      compatibleReadyReplicas: compatible.filter(isExpanded).length,
    };
  });
}
