import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { type NewEvent, requireExists, update } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import {
  bindCompletedAnnotation,
  classOfClaim,
  delaysBinding,
  hasStorageClass,
  isVolumeFor,
  selectedNodeAnnotation,
  storageProvisionerAnnotation,
} from '@kruise/machinery/volume-binding';
import { bind, type ClaimStatus, unboundStatus } from './bind.ts';
import { chooseVolume, mismatchOf } from './choose-volume.ts';
import { isInTree } from './reclaim.ts';

export type ClaimObserved = {
  readonly claim: PersistentVolumeClaim;
  /** Storage class of the PVC, if it exists. */
  readonly storageClass: StorageClass | undefined;
  /** Default storage class, for PVCs without a class. */
  readonly defaultClass: StorageClass | undefined;
  /** Volume that the PVC refers to. */
  readonly volume: PersistentVolume | undefined;
  /** Volumes that refer to the PVC. */
  readonly kept: readonly PersistentVolume[];
  /** Unbound volumes of the PVC's storage class. */
  readonly free: readonly PersistentVolume[];
  /** Names of the Pods that use the PVC and are not scheduled yet. */
  readonly waitingPods: readonly string[];
  /** A scheduled Pod that uses the PVC. */
  readonly placedPod: Pod | undefined;
};

/** Interval at which a pending PVC is requeued and its event repeated. */
const requeueSeconds = 15;

const betaProvisionerAnnotation = 'volume.beta.kubernetes.io/storage-provisioner';

/** PVC reconciler: binds a PVC, or determines what it waits for. */
export function decideClaim(observed: ClaimObserved): Decision<ClaimStatus> {
  const { metadata, spec } = observed.claim;
  if (metadata.annotations?.[bindCompletedAnnotation] !== undefined) return decideBound(observed);
  return spec?.volumeName ? decideWithVolumeName(observed) : decideWithoutVolumeName(observed);
}

function decideBound({ claim, volume }: ClaimObserved): Decision<ClaimStatus> {
  if (!claim.spec?.volumeName) {
    return markLost(
      claim,
      'ClaimLost',
      'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
    );
  }
  if (!volume) {
    return markLost(claim, 'ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
  }
  const { claimRef } = volume.spec ?? {};
  if (!claimRef || claimRef.uid === claim.metadata.uid) return bind(claim, volume);
  return markLost(claim, 'ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly');
}

function markLost(claim: PersistentVolumeClaim, reason: string, message: string): Decision<ClaimStatus> {
  if (claim.status?.phase === 'Lost') return { actions: [] };
  return {
    actions: [],
    status: unboundStatus(claim, 'Lost'),
    events: [{ about: claim, type: 'Warning', reason, message }],
  };
}

/** Handles a PVC with a volume name. */
function decideWithVolumeName({ claim, volume }: ClaimObserved): Decision<ClaimStatus> {
  if (!volume) return stayPending(claim);
  const { name } = volume.metadata;
  if (!volume.spec?.claimRef) {
    const mismatch = mismatchOf(claim, volume);
    if (mismatch === undefined) return bind(claim, volume);
    return stayPending(claim, warning('VolumeMismatch', `Cannot bind to requested volume "${name}": ${mismatch}`));
  }
  if (isVolumeFor(volume, claim)) return bind(claim, volume);
  return stayPending(claim, warning('FailedBinding', `volume "${name}" already bound to a different claim.`));
}

/** Handles a PVC without a volume name. */
function decideWithoutVolumeName(observed: ClaimObserved): Decision<ClaimStatus> {
  const { claim, storageClass, defaultClass, kept, free, waitingPods, placedPod } = observed;
  const isDelayed = storageClass !== undefined && delaysBinding(storageClass);
  const volume = chooseVolume(claim, { kept, free, isDelayed });
  if (volume) return bind(claim, volume);
  if (!hasStorageClass(claim) && defaultClass) {
    const storageClassName = defaultClass.metadata.name ?? '';
    const classed: PersistentVolumeClaim = { ...claim, spec: { ...claim.spec, storageClassName } };
    return { actions: [update(classed)] };
  }
  if (isDelayed && claim.metadata.annotations?.[selectedNodeAnnotation] === undefined) {
    const isMade = !isInTree(storageClass.provisioner);
    return placedPod && isMade ? selectPodNode(claim, placedPod) : stayPending(claim, waitingEvent(waitingPods));
  }
  if (classOfClaim(claim) !== '') return requestProvisioning(claim, storageClass);
  const message = 'no persistent volumes available for this claim and no storage class is set';
  return stayPending(claim, { type: 'Normal', reason: 'FailedBinding', message });
}

/**
 * Sets the selected node of a PVC to the node of its Pod. A Pod that already has a node waits for its PVC there, and no
 * scheduler handles it again. Either the Pod was not placed by a scheduler, or the scheduler saw a previous PVC of this
 * name that was bound.
 */
function selectPodNode(claim: PersistentVolumeClaim, pod: Pod): Decision<ClaimStatus> {
  const annotations = { ...claim.metadata.annotations, [selectedNodeAnnotation]: pod.spec?.nodeName ?? '' };
  // The cache may contain a deleted Pod of this name while its successor is not scheduled yet.
  return { actions: [requireExists(update({ ...claim, metadata: { ...claim.metadata, annotations } }), pod)] };
}

/** Requests a volume from the provisioner of the storage class. */
function requestProvisioning(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
): Decision<ClaimStatus> {
  if (!storageClass) {
    const message = `storageclass.storage.k8s.io "${classOfClaim(claim)}" not found`;
    return stayPending(claim, warning('ProvisioningFailed', message));
  }
  const { provisioner } = storageClass;
  if (isInTree(provisioner)) {
    return stayPending(claim, warning('ProvisioningFailed', `no volume plugin matched name: ${provisioner}`));
  }
  const { annotations } = claim.metadata;
  const asked = { [betaProvisionerAnnotation]: provisioner, [storageProvisionerAnnotation]: provisioner };
  const isRequested = annotations?.[storageProvisionerAnnotation] === provisioner;
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  return {
    ...stayPending(claim, { type: 'Normal', reason: 'ExternalProvisioning', message }),
    actions: isRequested
      ? []
      : [update({ ...claim, metadata: { ...claim.metadata, annotations: { ...annotations, ...asked } } })],
  };
}

type PendingEvent = Omit<NewEvent, 'about'>;

/** Keeps the PVC pending, emits the reason as an event, and requeues. */
function stayPending(claim: PersistentVolumeClaim, event?: PendingEvent): Decision<ClaimStatus> {
  return {
    actions: [],
    status: unboundStatus(claim, 'Pending'),
    events: event ? [{ about: claim, ...event }] : [],
    requeueAfterSeconds: requeueSeconds,
  };
}

function warning(reason: string, message: string): PendingEvent {
  return { type: 'Warning', reason, message };
}

function waitingEvent(pods: readonly string[]): PendingEvent {
  if (pods.length === 0) {
    const message = 'waiting for first consumer to be created before binding';
    return { type: 'Normal', reason: 'WaitForFirstConsumer', message };
  }
  const message = `waiting for pod${pods.length > 1 ? 's' : ''} ${pods.join(',')} to be scheduled`;
  return { type: 'Normal', reason: 'WaitForPodScheduled', message };
}
