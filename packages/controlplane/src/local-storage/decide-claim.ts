import type { Node } from '@kruise/api/core/node';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { create, record, update, withOutcomeEvents } from '@kruise/client/actions';
import type { Decision, StatusOf } from '@kruise/client/controller';
import { isConditionTrue, withCondition, withoutCondition } from '@kruise/machinery/conditions';
import {
  claimReference,
  provisionedByAnnotation,
  requestOf,
  selectedNodeAnnotation,
  storageProvisionerAnnotation,
} from '@kruise/machinery/volume-binding';
import { compareQuantities, parseQuantity } from '@kruise/values/quantity';
import type { Instant } from '@kruise/values/time';
import { directoryFor, finalizer, nodeAnnotation, provisioner, volumeNameFor } from './names.ts';

export type ClaimObserved = {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass | undefined;
  /** Volume that the PVC is bound to, otherwise the one provisioned for it. */
  readonly volume: PersistentVolume | undefined;
  /** Node that the scheduler selected for the PVC, if it exists. */
  readonly node: Node | undefined;
};

type Status = StatusOf<PersistentVolumeClaim>;

const nothing: Decision<Status> = { actions: [] };

/** Provisions a volume for a PVC of this provisioner, and expands the volume of a bound one. */
export function decideClaim(observed: ClaimObserved, now: Instant): Decision<Status> {
  const { claim, volume } = observed;
  if (claim.spec?.volumeName) return volume ? expand(claim, volume, now) : nothing;
  const isRequested = claim.metadata.annotations?.[storageProvisionerAnnotation] === provisioner;
  return isRequested && !volume ? provision(observed) : nothing;
}

function provision({ claim, storageClass, node }: ClaimObserved): Decision<Status> {
  if (!storageClass || storageClass.provisioner !== provisioner) return nothing;
  const { annotations = {}, namespace, name } = claim.metadata;
  const className = storageClass.metadata.name;
  const failed = `failed to provision volume with StorageClass "${className}": `;
  const fault = faultOf(claim);
  if (fault !== undefined) {
    return {
      actions: [record({ about: claim, type: 'Warning', reason: 'ProvisioningFailed', message: failed + fault })],
    };
  }
  if (!node) {
    // Removing the annotation makes the scheduler select a node again.
    const { [selectedNodeAnnotation]: gone, ...others } = annotations;
    if (gone === undefined) return nothing;
    const unplaced = { ...claim, metadata: { ...claim.metadata, annotations: others } };
    return { actions: [update(unplaced)] };
  }
  const message = `External provisioner is provisioning volume for claim "${namespace}/${name}"`;
  return {
    actions: [
      record({ about: claim, type: 'Normal', reason: 'Provisioning', message }),
      withOutcomeEvents(create(volumeFor(claim, storageClass, node)), {
        about: claim,
        done: { reason: 'ProvisioningSucceeded', message: 'Successfully provisioned volume {name}' },
        failed: { reason: 'ProvisioningFailed', message: `${failed}{error}` },
      }),
    ],
  };
}

/** Returns which requested feature a directory on one node does not support. */
function faultOf({ spec, metadata }: PersistentVolumeClaim): string | undefined {
  if (spec?.selector) return 'claim.spec.selector is not supported';
  if (spec?.dataSource || spec?.dataSourceRef) return 'claim.spec.dataSource is not supported';
  if (spec?.volumeMode === 'Block') return 'volumeMode Block is not supported: a volume is a directory';
  const shared = spec?.accessModes?.find((mode) => mode !== 'ReadWriteOnce' && mode !== 'ReadWriteOncePod');
  if (shared) return `accessMode ${shared} is not supported: a volume is on one node`;
  if (metadata.annotations?.[selectedNodeAnnotation] === undefined) {
    return 'no node was selected: the class must have volumeBindingMode WaitForFirstConsumer';
  }
  return undefined;
}

function volumeFor(claim: PersistentVolumeClaim, storageClass: StorageClass, node: Node): PersistentVolume {
  const { reclaimPolicy = 'Delete', metadata } = storageClass;
  const { name: nodeName = '', labels } = node.metadata;
  const hostname = 'kubernetes.io/hostname';
  const values = [labels?.[hostname] ?? nodeName];
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: volumeNameFor(claim),
      annotations: { [provisionedByAnnotation]: provisioner, [nodeAnnotation]: nodeName },
      ...(reclaimPolicy === 'Delete' ? { finalizers: [finalizer] } : {}),
    },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.storage ?? '0' },
      accessModes: claim.spec?.accessModes ?? [],
      volumeMode: 'Filesystem',
      storageClassName: metadata.name ?? '',
      persistentVolumeReclaimPolicy: reclaimPolicy,
      claimRef: claimReference(claim),
      hostPath: { path: directoryFor(claim), type: 'DirectoryOrCreate' },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: hostname, operator: 'In', values }] }] },
      },
    },
  };
}

/**
 * Expands a volume. A directory has no fixed size, so the new size is only recorded: first the resize status, for
 * clients that wait for it, then the volume, then the PVC.
 */
function expand(claim: PersistentVolumeClaim, volume: PersistentVolume, now: Instant): Decision<Status> {
  const { status } = claim;
  const isOurs = volume.metadata.annotations?.[provisionedByAnnotation] === provisioner;
  const isItsOwn = volume.spec?.claimRef?.uid === claim.metadata.uid;
  const wanted = requestOf(claim);
  const hasEnough = compareQuantities(parseQuantity(status?.capacity?.storage ?? '0'), wanted) >= 0;
  if (!isOurs || !isItsOwn || status?.phase !== 'Bound' || hasEnough) return nothing;

  const storage = claim.spec?.resources?.requests?.storage ?? '0';
  if (!isConditionTrue(status.conditions, 'Resizing') || status.allocatedResources?.storage !== storage) {
    const message = `External resizer is resizing volume ${volume.metadata.name}`;
    return {
      actions: [],
      status: {
        ...status,
        conditions: withCondition(status.conditions, { type: 'Resizing', status: 'True' }, now),
        allocatedResources: { ...status.allocatedResources, storage },
        allocatedResourceStatuses: { ...status.allocatedResourceStatuses, storage: 'ControllerResizeInProgress' },
      },
      events: [{ about: claim, type: 'Normal', reason: 'Resizing', message }],
    };
  }
  const { storage: _, ...statuses } = status.allocatedResourceStatuses ?? {};
  const grown: PersistentVolume = {
    ...volume,
    spec: { ...volume.spec, capacity: { ...volume.spec?.capacity, storage } },
  };
  const isSmall = compareQuantities(parseQuantity(volume.spec?.capacity?.storage ?? '0'), wanted) < 0;
  return {
    actions: isSmall ? [update(grown)] : [],
    status: {
      ...status,
      capacity: { ...status.capacity, storage },
      conditions: withoutCondition(status.conditions, 'Resizing'),
      allocatedResourceStatuses: statuses,
    },
    events: [{ about: claim, type: 'Normal', reason: 'VolumeResizeSuccessful', message: 'Resize volume succeeded' }],
  };
}
