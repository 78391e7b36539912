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

/** Says of a volume how large it was before it was enlarged, while the node has yet to enlarge the filesystem. */
const preResizeCapacityAnnotation = 'volume.alpha.kubernetes.io/pre-resize-capacity';

/** What is left to do until a claim and a volume are each other's. */
export function bind(claim: PersistentVolumeClaim, volume: PersistentVolume): Decision<ClaimStatus> {
  const boundVolume = volumeBoundTo(volume, claim);
  const boundClaim = claimBoundTo(claim, volume);
  const actions: Action[] = [];
  if (boundVolume !== volume) actions.push(update(boundVolume));
  if (boundClaim !== claim) actions.push(update(boundClaim));
  return { actions, status: boundStatus(claim, volume) };
}

/** The claim as it is when it has the volume; the same one, if it has already. */
function claimBoundTo(claim: PersistentVolumeClaim, { metadata: { name = '' } }: PersistentVolume) {
  const { metadata, spec } = claim;
  const isNamed = spec?.volumeName === name;
  if (isNamed && isFullyBound(claim)) return claim;
  const annotations = {
    // Where someone had named the volume, it is not a program's doing.
    ...(isNamed ? {} : { [boundByControllerAnnotation]: 'yes' }),
    ...metadata.annotations,
    [bindCompletedAnnotation]: 'yes',
  };
  return { ...claim, metadata: { ...metadata, annotations }, spec: { ...spec, volumeName: name } };
}

function boundStatus({ status }: PersistentVolumeClaim, { metadata, spec }: PersistentVolume): ClaimStatus {
  const { accessModes: _, ...rest } = status ?? {};
  const bound = { ...rest, ...(spec?.accessModes ? { accessModes: spec.accessModes } : {}) };
  // Once it is bound, what it says of its size is up to those who enlarge it: it may lag behind the volume.
  if (status?.phase === 'Bound') return bound;
  const before = metadata.annotations?.[preResizeCapacityAnnotation];
  const capacity = before === undefined ? spec?.capacity : { ...status?.capacity, storage: before };
  return { ...bound, phase: 'Bound', ...(capacity ? { capacity } : {}) };
}

/** The status of a claim that has no volume. */
export function unboundStatus({ status }: PersistentVolumeClaim, phase: 'Pending' | 'Lost'): ClaimStatus {
  const { accessModes: _modes, capacity: _capacity, currentVolumeAttributesClassName: _class, ...rest } = status ?? {};
  return { ...rest, phase };
}
