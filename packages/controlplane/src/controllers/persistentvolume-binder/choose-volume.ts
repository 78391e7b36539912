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

/** What there is to choose from. */
export type Choice = {
  /** Volumes that are kept for the claim, or bound to it. */
  readonly kept: readonly PersistentVolume[];
  /** Volumes of its class that are nobody's. */
  readonly free: readonly PersistentVolume[];
  /** Whether it waits for a Pod, and takes no volume but one that is kept for it. */
  readonly isDelayed: boolean;
};

/**
 * The volume a claim gets: one that is kept for it or else, of those that can be mounted in the fewest ways beyond what
 * it wants, the smallest.
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

/** Why a claim cannot have the very volume it asks for, if it cannot. */
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
