/** Which volume a claim gets: what the scheduler and the controller that binds volumes have to agree on. */
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { compareQuantities, parseQuantity, type Quantity } from '@kruise/values/quantity';
import { selectorOf } from './label-selector.ts';
import { nodesOfSelector, type SelectableNode } from './node-affinity.ts';

/** The node a volume is to be made for; on claims, by the scheduler. */
export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node';
/** Says of a claim that its binding is complete. */
export const bindCompletedAnnotation = 'pv.kubernetes.io/bind-completed';
/** Says of a volume or claim that a program bound it, not a person. */
export const boundByControllerAnnotation = 'pv.kubernetes.io/bound-by-controller';
/** What a class of volumes that nobody makes is provisioned by. */
export const noProvisioner = 'kubernetes.io/no-provisioner';

/** On claims, by the binder: who is to make a volume for it. */
export const storageProvisionerAnnotation = 'volume.kubernetes.io/storage-provisioner';
/** On volumes: who made it for a claim. */
export const provisionedByAnnotation = 'pv.kubernetes.io/provisioned-by';

const betaClassAnnotation = 'volume.beta.kubernetes.io/storage-class';

/** The class of volumes a claim wants, empty if none. */
export function classOfClaim({ metadata, spec }: PersistentVolumeClaim): string {
  return metadata.annotations?.[betaClassAnnotation] ?? spec?.storageClassName ?? '';
}

/** Whether a claim says what class it wants, be it none; one that does not is given the default. */
export function namesClass({ metadata, spec }: PersistentVolumeClaim): boolean {
  return metadata.annotations?.[betaClassAnnotation] !== undefined || spec?.storageClassName != null;
}

/** The class a volume is of, empty if none. */
export function classOfVolume({ metadata, spec }: PersistentVolume): string {
  return metadata.annotations?.[betaClassAnnotation] ?? spec?.storageClassName ?? '';
}

/** Whether claims of a class wait for a Pod before they get a volume. */
export function delaysBinding({ volumeBindingMode }: StorageClass): boolean {
  return volumeBindingMode === 'WaitForFirstConsumer';
}

/** Whether a claim has a volume, and everyone has agreed to it. */
export function isFullyBound({ metadata, spec }: PersistentVolumeClaim): boolean {
  return Boolean(spec?.volumeName) && metadata.annotations?.[bindCompletedAnnotation] !== undefined;
}

/** Whether a volume is bound to, or kept for, a claim. */
export function isVolumeFor(volume: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const reference = volume.spec?.claimRef;
  if (!reference || reference.name !== metadata.name || reference.namespace !== metadata.namespace) return false;
  return !reference.uid || reference.uid === metadata.uid;
}

/** Whether a volume can be used on a node. */
export function isVolumeReachable({ spec }: PersistentVolume, node: SelectableNode): boolean {
  const required = spec?.nodeAffinity?.required;
  return !required || nodesOfSelector(required)(node);
}

/** Where a volume is looked for. */
export type MatchOptions = {
  /** The node it is to be used on; anywhere, if left out. */
  readonly node?: SelectableNode;
  /** Volumes that are spoken for already, by name. */
  readonly excluded?: ReadonlySet<string>;
  /** Takes no volume but one that is kept for the claim, as it waits for a Pod. */
  readonly isDelayed?: boolean;
};

/** The volume that is kept for a claim or else the smallest that meets its demands. */
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
    const isKept = isVolumeFor(volume, claim);
    if (excluded?.has(metadata.name ?? '') || (spec?.claimRef && !isKept)) continue;
    const size = parseQuantity(spec?.capacity?.storage ?? '0');
    if (compareQuantities(size, wanted) < 0 || !hasSameMode(claim, volume)) continue;
    if (spec?.volumeAttributesClassName || metadata.deletionTimestamp != null) continue;
    const isReachable = !node || isVolumeReachable(volume, node);
    if (isKept) return isReachable ? volume : undefined;

    if (!node && isDelayed) continue;
    if (status?.phase !== 'Available' || selector?.matches(metadata.labels) === false) continue;
    if (classOfVolume(volume) !== wantedClass || !isReachable) continue;
    if (node && !hasAccessModes(claim, volume)) continue;
    if (!smallest || compareQuantities(smallest.size, size) > 0) smallest = { volume, size };
  }
  return smallest?.volume;
}

/** How much storage a claim wants. */
export function requestOf({ spec }: PersistentVolumeClaim): Quantity {
  return parseQuantity(spec?.resources?.requests?.storage ?? '0');
}

/** Whether a volume is what a claim wants, a filesystem or a device. */
export function hasSameMode(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  return (claim.spec?.volumeMode ?? 'Filesystem') === (volume.spec?.volumeMode ?? 'Filesystem');
}

/** Whether a volume can be mounted in all the ways a claim wants. */
export function hasAccessModes(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  return (claim.spec?.accessModes ?? []).every((mode) => volume.spec?.accessModes?.includes(mode));
}

/** The volume as it is when it is bound to a claim; the same one, if it is already. */
export function volumeBoundTo(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  const { uid = '' } = claim.metadata;
  const isKept = isVolumeFor(volume, claim);
  const annotations = volume.metadata.annotations;
  if (isKept && volume.spec?.claimRef?.uid === uid) return volume;
  const claimRef = claimReference(claim);
  return {
    ...volume,
    // Where someone had kept it for the claim, it is not a program's doing.
    metadata: isKept
      ? volume.metadata
      : { ...volume.metadata, annotations: { [boundByControllerAnnotation]: 'yes', ...annotations } },
    spec: { ...volume.spec, claimRef },
  };
}

/** How a volume names the claim it is bound to. */
export function claimReference({
  metadata,
}: PersistentVolumeClaim): NonNullable<NonNullable<PersistentVolume['spec']>['claimRef']> {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
  return { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion };
}
