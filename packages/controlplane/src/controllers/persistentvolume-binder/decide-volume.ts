import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { isBeingDeleted, type NewEvent, remove, update } from '@kruise/client/actions';
import type { Decision, StatusOf } from '@kruise/client/controller';
import { boundByControllerAnnotation, hasSameMode, provisionedByAnnotation } from '@kruise/machinery/volume-binding';
import { deletionOf, isMigrated } from './reclaim.ts';

export type VolumeObserved = {
  readonly volume: PersistentVolume;
  /** PVC with the name in the volume's claimRef, with any UID. */
  readonly claim: PersistentVolumeClaim | undefined;
};

type VolumeStatus = StatusOf<PersistentVolume>;
type Phase = NonNullable<NonNullable<VolumeStatus>['phase']>;

const nothing: Decision<VolumeStatus> = { actions: [] };

/** PV reconciler: determines the phase of a volume, and reclaims it when its PVC is gone. */
export function decideVolume({ volume, claim }: VolumeObserved): Decision<VolumeStatus> {
  const { claimRef } = volume.spec ?? {};
  if (!claimRef?.uid) return enterPhase(volume, 'Available');
  if (!claim || claim.metadata.uid !== claimRef.uid) return release(volume);
  const { volumeName } = claim.spec ?? {};
  // The PVC binds itself, unless the volume mode does not match.
  if (!volumeName) return hasSameMode(claim, volume) ? nothing : { actions: [], events: modeMismatch(volume, claim) };
  if (volumeName === volume.metadata.name) return enterPhase(volume, 'Bound');
  return isProvisionedForDeletion(volume) ? release(volume) : unbind(volume);
}

function enterPhase(volume: PersistentVolume, phase: Phase, message?: string): Decision<VolumeStatus> {
  if (volume.status?.phase === phase) return nothing;
  const { message: _, ...rest } = volume.status ?? {};
  return { actions: [], status: { ...rest, phase, ...(message === undefined ? {} : { message }) } };
}

/** Sets the phase to Released, then applies the reclaim policy. */
function release(volume: PersistentVolume): Decision<VolumeStatus> {
  if (!isReleased(volume)) return enterPhase(volume, 'Released');
  if (isMigrated(volume)) return nothing;
  switch (volume.spec?.persistentVolumeReclaimPolicy) {
    case 'Delete': {
      const deletion = deletionOf(volume);
      if (deletion === 'elsewhere') return nothing;
      if (deletion === 'here') return isBeingDeleted(volume) ? nothing : { actions: [remove(volume)] };
      return fail(volume, 'VolumeFailedDelete', deletion.fault);
    }
    case 'Recycle':
      return fail(volume, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!');
    default:
      return nothing;
  }
}

/** Reports whether the volume is already Released. A Failed phase is not overwritten. */
export function isReleased({ status }: PersistentVolume): boolean {
  return status?.phase === 'Released' || status?.phase === 'Failed';
}

function fail(volume: PersistentVolume, reason: string, message: string): Decision<VolumeStatus> {
  if (volume.status?.phase === 'Failed') return nothing;
  return { ...enterPhase(volume, 'Failed', message), events: [{ about: volume, type: 'Warning', reason, message }] };
}

function isProvisionedForDeletion({ metadata, spec }: PersistentVolume): boolean {
  return (
    metadata.annotations?.[provisionedByAnnotation] !== undefined && spec?.persistentVolumeReclaimPolicy === 'Delete'
  );
}

/**
 * Unbinds a volume whose PVC has another volume: it becomes available, or stays pre-bound if a user set the claimRef.
 */
function unbind(volume: PersistentVolume): Decision<VolumeStatus> {
  const { [boundByControllerAnnotation]: byController, ...annotations } = volume.metadata.annotations ?? {};
  const { claimRef, ...spec } = volume.spec ?? {};
  const { uid: _, ...kept } = claimRef ?? {};
  const unbound =
    byController === undefined
      ? { ...volume, spec: { ...spec, claimRef: kept } }
      : { ...volume, metadata: { ...volume.metadata, annotations }, spec };
  return { ...enterPhase(volume, 'Available'), actions: [update(unbound)] };
}

function modeMismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): readonly NewEvent[] {
  const why = 'due to incompatible volumeMode.';
  const mismatchEvent = { type: 'Warning', reason: 'VolumeMismatch' } as const;
  return [
    {
      ...mismatchEvent,
      about: volume,
      message: `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claim.metadata.name}" ${why}`,
    },
    {
      ...mismatchEvent,
      about: claim,
      message: `Cannot bind PersistentVolume "${volume.metadata.name}" to requested PersistentVolumeClaim ${why}`,
    },
  ];
}
