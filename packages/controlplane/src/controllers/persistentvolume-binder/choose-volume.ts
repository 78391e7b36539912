import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import {
  classOfClaim,
  classOfVolume,
  findMatchingVolume,
  hasAccessModes,
  hasSameMode,
  requestOf,
} from '@kruise/machinery/volume-binding';
import { compareQuantities, parseQuantity } from '@kruise/values/quantity';

/** Volumes to choose from. */
export type Choice = {
  /** Volumes that are pre-bound or bound to the PVC. */
  readonly kept: readonly PersistentVolume[];
  /** Unbound volumes of the PVC's storage class. */
  readonly free: readonly PersistentVolume[];
  /** The PVC waits for its first consumer and only takes a pre-bound volume. */
  readonly isDelayed: boolean;
};

/**
 * Returns the volume for a PVC: a pre-bound one, otherwise the smallest of those with the fewest surplus access modes.
 */
export function chooseVolume(
  claim: PersistentVolumeClaim,
  { kept, free, isDelayed }: Choice,
): PersistentVolume | undefined {
  const fitting = [...kept, ...(isDelayed ? [] : free)].filter((volume) => hasAccessModes(claim, volume));
  const byModes = Map.groupBy(fitting, ({ spec }) => spec?.accessModes?.length ?? 0);
  for (const count of [...byModes.keys()].sort((a, b) => a - b)) {
    const found = findMatchingVolume(claim, byModes.get(count) ?? [], { isDelayed });
    if (found) return found;
  }
  return undefined;
}

/** Returns why a PVC cannot bind to the volume it requests; undefined if it can. */
export function mismatchOf(claim: PersistentVolumeClaim, volume: PersistentVolume): string | undefined {
  const { metadata, spec } = volume;
  if (metadata.deletionTimestamp != null) return `the volume is marked for deletion "${metadata.name}"`;
  if (compareQuantities(parseQuantity(spec?.capacity?.storage ?? '0'), requestOf(claim)) < 0) {
    return 'requested PV is too small';
  }
  if (classOfVolume(volume) !== classOfClaim(claim)) return 'storageClassName does not match';
  if (claim.spec?.volumeAttributesClassName || spec?.volumeAttributesClassName) {
    return 'volumeAttributesClassName is not supported when the feature-gate VolumeAttributesClass is disabled';
  }
  if (!hasSameMode(claim, volume)) return 'incompatible volumeMode';
  return hasAccessModes(claim, volume) ? undefined : 'incompatible accessMode';
}
