import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Action, update } from '@kruise/client/actions';
import type { Decision, StatusOf } from '@kruise/client/controller';
import {
  bindCompletedAnnotation,
  boundByControllerAnnotation,
  isFullyBound,
  volumeBoundTo,
} from '@kruise/machinery/volume-binding';

export type ClaimStatus = StatusOf<PersistentVolumeClaim>;

/** Capacity of a volume before its expansion, while the node has yet to expand the filesystem. */
const preResizeCapacityAnnotation = 'volume.alpha.kubernetes.io/pre-resize-capacity';

/** Returns the remaining steps to bind a PVC and a PV to each other. */
export function bind(claim: PersistentVolumeClaim, volume: PersistentVolume): Decision<ClaimStatus> {
  const boundVolume = volumeBoundTo(volume, claim);
  const boundClaim = claimBoundTo(claim, volume);
  const actions: Action[] = [];
  if (boundVolume !== volume) actions.push(update(boundVolume));
  if (boundClaim !== claim) actions.push(update(boundClaim));
  return { actions, status: boundStatus(claim, volume) };
}

/** Returns the PVC bound to the volume; the same object if it is bound already. */
function claimBoundTo(claim: PersistentVolumeClaim, { metadata: { name = '' } }: PersistentVolume) {
  const { metadata, spec } = claim;
  const hasVolumeName = spec?.volumeName === name;
  if (hasVolumeName && isFullyBound(claim)) return claim;
  const annotations = {
    // A volume name that was set by the user is not marked as set by the controller.
    ...(hasVolumeName ? {} : { [boundByControllerAnnotation]: 'yes' }),
    ...metadata.annotations,
    [bindCompletedAnnotation]: 'yes',
  };
  return { ...claim, metadata: { ...metadata, annotations }, spec: { ...spec, volumeName: name } };
}

function boundStatus({ status }: PersistentVolumeClaim, { metadata, spec }: PersistentVolume): ClaimStatus {
  const { accessModes: _, ...rest } = status ?? {};
  const bound = { ...rest, ...(spec?.accessModes ? { accessModes: spec.accessModes } : {}) };
  // Once the PVC is bound, only the resizers update its capacity, which may lag behind the volume.
  if (status?.phase === 'Bound') return bound;
  const before = metadata.annotations?.[preResizeCapacityAnnotation];
  const capacity = before === undefined ? spec?.capacity : { ...status?.capacity, storage: before };
  return { ...bound, phase: 'Bound', ...(capacity ? { capacity } : {}) };
}

/** Returns the status of a PVC without a volume. */
export function unboundStatus({ status }: PersistentVolumeClaim, phase: 'Pending' | 'Lost'): ClaimStatus {
  const { accessModes: _modes, capacity: _capacity, currentVolumeAttributesClassName: _class, ...rest } = status ?? {};
  return { ...rest, phase };
}
