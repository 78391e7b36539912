/** Matching of PVs and PVCs, shared by the scheduler and the PV controller. */
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { compareQuantities, parseQuantity, type Quantity } from '@kruise/values/quantity';
import { selectorOf } from './label-selector.ts';
import { nodesOfSelector, type SelectableNode } from './node-affinity.ts';

/** Annotation of a PVC with the node for which to provision a volume, set by the scheduler. */
export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node';
/** Annotation of a PVC whose binding is complete. */
export const bindCompletedAnnotation = 'pv.kubernetes.io/bind-completed';
/** Annotation of a PV or PVC that was bound by the controller, not by a user. */
export const boundByControllerAnnotation = 'pv.kubernetes.io/bound-by-controller';
/** Provisioner of storage classes without dynamic provisioning. */
export const noProvisioner = 'kubernetes.io/no-provisioner';

/** Annotation of a PVC with the provisioner that has to create a volume, set by the PV controller. */
export const storageProvisionerAnnotation = 'volume.kubernetes.io/storage-provisioner';
/** Annotation of a PV with the provisioner that created it. */
export const provisionedByAnnotation = 'pv.kubernetes.io/provisioned-by';

const betaClassAnnotation = 'volume.beta.kubernetes.io/storage-class';

/** Returns the storage class of a PVC; empty if none. */
export function classOfClaim({ metadata, spec }: PersistentVolumeClaim): string {
  return metadata.annotations?.[betaClassAnnotation] ?? spec?.storageClassName ?? '';
}

/** Reports whether a PVC specifies a storage class, even an empty one; otherwise it gets the default class. */
export function hasStorageClass({ metadata, spec }: PersistentVolumeClaim): boolean {
  return metadata.annotations?.[betaClassAnnotation] !== undefined || spec?.storageClassName != null;
}

/** Returns the storage class of a PV; empty if none. */
export function classOfVolume({ metadata, spec }: PersistentVolume): string {
  return metadata.annotations?.[betaClassAnnotation] ?? spec?.storageClassName ?? '';
}

/** Reports whether a storage class delays binding until a Pod uses the PVC (WaitForFirstConsumer). */
export function delaysBinding({ volumeBindingMode }: StorageClass): boolean {
  return volumeBindingMode === 'WaitForFirstConsumer';
}

/** Reports whether a PVC is completely bound. */
export function isFullyBound({ metadata, spec }: PersistentVolumeClaim): boolean {
  return Boolean(spec?.volumeName) && metadata.annotations?.[bindCompletedAnnotation] !== undefined;
}

/**
 * Reports whether a PV is bound to or reserved for a PVC.
 *
 * ```ts
 * const prebound = volumes.find((volume) => isVolumeFor(volume, volumeClaim));
 * ```
 */
export function isVolumeFor(volume: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const reference = volume.spec?.claimRef;
  if (!reference || reference.name !== metadata.name || reference.namespace !== metadata.namespace) return false;
  return !reference.uid || reference.uid === metadata.uid;
}

/** Reports whether a PV is accessible from a node. */
export function isVolumeReachable({ spec }: PersistentVolume, node: SelectableNode): boolean {
  const required = spec?.nodeAffinity?.required;
  return !required || nodesOfSelector(required)(node);
}

/** Options of the search for a PV. */
export type MatchOptions = {
  /** Node on which the PV is used; any node if omitted. */
  readonly node?: SelectableNode;
  /** Names of PVs that are already taken. */
  readonly excluded?: ReadonlySet<string>;
  /** Returns only a PV that is reserved for the PVC, because the binding waits for a Pod. */
  readonly isDelayed?: boolean;
};

/** Returns the PV that is reserved for a PVC, or the smallest one that satisfies it. */
export function findMatchingVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  { node, excluded, isDelayed = false }: MatchOptions = {},
): PersistentVolume | undefined {
  const wanted = requestOf(claim);
  const wantedClass = classOfClaim(claim);
  const selector = claim.spec?.selector ? selectorOf(claim.spec.selector) : undefined;
  let smallest: { readonly volume: PersistentVolume; readonly size: Quantity } | undefined;
  for (const volume of volumes) {
    const { metadata, spec, status } = volume;
    const isPreBound = isVolumeFor(volume, claim);
    if (excluded?.has(metadata.name ?? '') || (spec?.claimRef && !isPreBound)) continue;
    const size = parseQuantity(spec?.capacity?.storage ?? '0');
    if (compareQuantities(size, wanted) < 0 || !hasSameMode(claim, volume)) continue;
    if (spec?.volumeAttributesClassName || metadata.deletionTimestamp != null) continue;
    const isReachable = !node || isVolumeReachable(volume, node);
    if (isPreBound) return isReachable ? volume : undefined;

    if (!node && isDelayed) continue;
    if (status?.phase !== 'Available' || selector?.matches(metadata.labels) === false) continue;
    if (classOfVolume(volume) !== wantedClass || !isReachable) continue;
    if (node && !hasAccessModes(claim, volume)) continue;
    if (!smallest || compareQuantities(smallest.size, size) > 0) smallest = { volume, size };
  }
  return smallest?.volume;
}

/** Returns the storage request of a PVC. */
export function requestOf({ spec }: PersistentVolumeClaim): Quantity {
  return parseQuantity(spec?.resources?.requests?.storage ?? '0');
}

/** Reports whether a PV has the volume mode of a PVC. */
export function hasSameMode(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  return (claim.spec?.volumeMode ?? 'Filesystem') === (volume.spec?.volumeMode ?? 'Filesystem');
}

/** Reports whether a PV supports all access modes of a PVC. */
export function hasAccessModes(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  return (claim.spec?.accessModes ?? []).every((mode) => volume.spec?.accessModes?.includes(mode));
}

/** Returns the PV bound to a PVC; the same object if it is bound already. */
export function volumeBoundTo(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  const { uid = '' } = claim.metadata;
  const isPreBound = isVolumeFor(volume, claim);
  const annotations = volume.metadata.annotations;
  if (isPreBound && volume.spec?.claimRef?.uid === uid) return volume;
  const claimRef = claimReference(claim);
  return {
    ...volume,
    // A PV that was reserved by a user has no bound-by-controller annotation.
    metadata: isPreBound
      ? volume.metadata
      : { ...volume.metadata, annotations: { [boundByControllerAnnotation]: 'yes', ...annotations } },
    spec: { ...volume.spec, claimRef },
  };
}

/** Returns the `claimRef` of a PV. */
export function claimReference({
  metadata,
}: PersistentVolumeClaim): NonNullable<NonNullable<PersistentVolume['spec']>['claimRef']> {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
  return { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion };
}
