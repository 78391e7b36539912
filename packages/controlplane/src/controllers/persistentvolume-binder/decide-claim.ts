import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { confirmed, type NewEvent, update } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import {
  bindCompletedAnnotation,
  classOfClaim,
  delaysBinding,
  isVolumeFor,
  namesClass,
  selectedNodeAnnotation,
  storageProvisionerAnnotation,
} from '@kruise/machinery/volume-binding';
import { bind, type ClaimStatus, unboundStatus } from './bind.ts';
import { chooseVolume, mismatchOf } from './choose-volume.ts';
import { isInTree } from './reclaim.ts';

export type ClaimObserved = {
  readonly claim: PersistentVolumeClaim;
  /** The class it wants, if there is such a class. */
  readonly storageClass: StorageClass | undefined;
  /** What claims get that name no class. */
  readonly defaultClass: StorageClass | undefined;
  /** The volume it names. */
  readonly volume: PersistentVolume | undefined;
  /** Volumes that name it. */
  readonly kept: readonly PersistentVolume[];
  /** Volumes of its class that are nobody's. */
  readonly free: readonly PersistentVolume[];
  /** The Pods, by name, that want it and have no node yet. */
  readonly waitingPods: readonly string[];
  /** A Pod that wants it and has a node already. */
  readonly placedPod: Pod | undefined;
};

/** How often a claim that waits is looked at, and told so. */
const lookAgainSeconds = 15;

const betaProvisionerAnnotation = 'volume.beta.kubernetes.io/storage-provisioner';

/** Whether a claim is bound, what it is bound to or waits for, and who is to help it. */
export function decideClaim(observed: ClaimObserved): Decision<ClaimStatus> {
  const { metadata, spec } = observed.claim;
  if (metadata.annotations?.[bindCompletedAnnotation] !== undefined) return decideBound(observed);
  return spec?.volumeName ? decideNamed(observed) : decideUnnamed(observed);
}

function decideBound({ claim, volume }: ClaimObserved): Decision<ClaimStatus> {
  if (!claim.spec?.volumeName) {
    return lose(claim, 'ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!');
  }
  if (!volume) {
    return lose(claim, 'ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
  }
  const { claimRef } = volume.spec ?? {};
  if (!claimRef || claimRef.uid === claim.metadata.uid) return bind(claim, volume);
  return lose(claim, 'ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly');
}

function lose(claim: PersistentVolumeClaim, reason: string, message: string): Decision<ClaimStatus> {
  if (claim.status?.phase === 'Lost') return { actions: [] };
  return {
    actions: [],
    status: unboundStatus(claim, 'Lost'),
    events: [{ about: claim, type: 'Warning', reason, message }],
  };
}

/** Somebody has said which volume it is to have. */
function decideNamed({ claim, volume }: ClaimObserved): Decision<ClaimStatus> {
  if (!volume) return wait(claim);
  const { name } = volume.metadata;
  if (!volume.spec?.claimRef) {
    const mismatch = mismatchOf(claim, volume);
    if (mismatch === undefined) return bind(claim, volume);
    return wait(claim, warning('VolumeMismatch', `Cannot bind to requested volume "${name}": ${mismatch}`));
  }
  if (isVolumeFor(volume, claim)) return bind(claim, volume);
  return wait(claim, warning('FailedBinding', `volume "${name}" already bound to a different claim.`));
}

/** Any volume will do that fits. */
function decideUnnamed(observed: ClaimObserved): Decision<ClaimStatus> {
  const { claim, storageClass, defaultClass, kept, free, waitingPods, placedPod } = observed;
  const isDelayed = storageClass !== undefined && delaysBinding(storageClass);
  const volume = chooseVolume(claim, { kept, free, isDelayed });
  if (volume) return bind(claim, volume);
  if (!namesClass(claim) && defaultClass) {
    const storageClassName = defaultClass.metadata.name ?? '';
    const classed: PersistentVolumeClaim = { ...claim, spec: { ...claim.spec, storageClassName } };
    return { actions: [update(classed)] };
  }
  if (isDelayed && claim.metadata.annotations?.[selectedNodeAnnotation] === undefined) {
    const isMade = !isInTree(storageClass.provisioner);
    return placedPod && isMade ? follow(claim, placedPod) : wait(claim, waitingEvent(waitingPods));
  }
  if (classOfClaim(claim) !== '') return askForVolume(claim, storageClass);
  const message = 'no persistent volumes available for this claim and no storage class is set';
  return wait(claim, { type: 'Normal', reason: 'FailedBinding', message });
}

/**
 * A Pod that has its node waits for its claim there, and no scheduler looks at it again. It was none that gave it the
 * node; or one that still saw the claim that had this name before, and a volume with it.
 */
function follow(claim: PersistentVolumeClaim, pod: Pod): Decision<ClaimStatus> {
  const annotations = { ...claim.metadata.annotations, [selectedNodeAnnotation]: pod.spec?.nodeName ?? '' };
  // A cache may still have a Pod of this name that is gone, while the next is yet to get its node.
  return { actions: [confirmed(update({ ...claim, metadata: { ...claim.metadata, annotations } }), pod)] };
}

/** Asks whoever makes volumes of the class for one. */
function askForVolume(claim: PersistentVolumeClaim, storageClass: StorageClass | undefined): Decision<ClaimStatus> {
  if (!storageClass) {
    const message = `storageclass.storage.k8s.io "${classOfClaim(claim)}" not found`;
    return wait(claim, warning('ProvisioningFailed', message));
  }
  const { provisioner } = storageClass;
  if (isInTree(provisioner)) {
    return wait(claim, warning('ProvisioningFailed', `no volume plugin matched name: ${provisioner}`));
  }
  const { annotations } = claim.metadata;
  const asked = { [betaProvisionerAnnotation]: provisioner, [storageProvisionerAnnotation]: provisioner };
  const isAsked = annotations?.[storageProvisionerAnnotation] === provisioner;
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  return {
    ...wait(claim, { type: 'Normal', reason: 'ExternalProvisioning', message }),
    actions: isAsked
      ? []
      : [update({ ...claim, metadata: { ...claim.metadata, annotations: { ...annotations, ...asked } } })],
  };
}

type Told = Omit<NewEvent, 'about'>;

/** There is nothing to be done for now but to say why, and to look again. */
function wait(claim: PersistentVolumeClaim, event?: Told): Decision<ClaimStatus> {
  return {
    actions: [],
    status: unboundStatus(claim, 'Pending'),
    events: event ? [{ about: claim, ...event }] : [],
    requeueAfterSeconds: lookAgainSeconds,
  };
}

function warning(reason: string, message: string): Told {
  return { type: 'Warning', reason, message };
}

function waitingEvent(pods: readonly string[]): Told {
  if (pods.length === 0) {
    const message = 'waiting for first consumer to be created before binding';
    return { type: 'Normal', reason: 'WaitForFirstConsumer', message };
  }
  const message = `waiting for pod${pods.length > 1 ? 's' : ''} ${pods.join(',')} to be scheduled`;
  return { type: 'Normal', reason: 'WaitForPodScheduled', message };
}
