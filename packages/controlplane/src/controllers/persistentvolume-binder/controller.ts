import { node } from '@kruise/api/core/node';
import { type PersistentVolume, persistentVolume } from '@kruise/api/core/persistentvolume';
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type StorageClass, storageClass } from '@kruise/api/storage/storageclass';
import type { Client } from '@kruise/client/client';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyFor, keyOf } from '@kruise/client/object-key';
import { defaultClass, defaultStorageClassAnnotations } from '@kruise/machinery/default-class';
import { isPodFinished } from '@kruise/machinery/pods';
import { isNotFound } from '@kruise/machinery/status';
import { classOfClaim, classOfVolume, hasStorageClass } from '@kruise/machinery/volume-binding';
import { byClaim as podsByClaim } from '@kruise/workload-kit/pod-indexes';
import { chooseVolume } from './choose-volume.ts';
import { type ClaimObserved, decideClaim } from './decide-claim.ts';
import { decideVolume, isReleased, type VolumeObserved } from './decide-volume.ts';

const byClaim = ({ spec }: PersistentVolume) => (spec?.claimRef ? [claimKeyOf(spec.claimRef)] : []);
const freeByClass = (volume: PersistentVolume) => (volume.spec?.claimRef ? [] : [classOfVolume(volume)]);
const byVolume = ({ spec }: PersistentVolumeClaim) => (spec?.volumeName ? [spec.volumeName] : []);
const unboundByClass = (claim: PersistentVolumeClaim) => (claim.spec?.volumeName ? [] : [classOfClaim(claim)]);

/** PersistentVolume binder: binds PVCs and PVs. */
export function persistentVolumeBinder(): readonly Controller[] {
  return [claimController, volumeController];
}

const claimController = defineController({
  name: 'persistentvolume-binder-claims',
  component: 'persistentvolume-controller',
  for: persistentVolumeClaim,
  // Concurrent workers would choose the same volume and conflict.
  workers: 1,
  uses: [pod, node],
  watches: [watch(persistentVolume, claimsOfVolume), watch(storageClass, claimsOfClass)],
  observe: observeClaim,
  decide: decideClaim,
});

function observeClaim(caches: Caches, key: Key): ClaimObserved | undefined {
  const claim = caches.of(persistentVolumeClaim).get(key);
  if (!claim) return undefined;
  const volumes = caches.of(persistentVolume);
  const { volumeName } = claim.spec ?? {};
  const className = classOfClaim(claim);
  const free = volumeName ? [] : volumes.byIndex(freeByClass, className);
  const pods = volumeName ? [] : caches.of(pod).byIndex(podsByClaim, key);
  const consumers = pods.filter((each) => !isPodFinished(each));
  const isPlaced = ({ metadata, spec }: Pod) =>
    metadata.deletionTimestamp === undefined && caches.of(node).get(spec?.nodeName ?? '') !== undefined;
  return {
    claim,
    storageClass: className === '' ? undefined : caches.of(storageClass).get(className),
    defaultClass: hasStorageClass(claim)
      ? undefined
      : defaultClass(caches.of(storageClass).list(), defaultStorageClassAnnotations),
    volume: volumeName ? volumes.get(volumeName) : undefined,
    kept: volumeName ? [] : volumes.byIndex(byClaim, key),
    free,
    waitingPods: consumers.filter(({ spec }) => !spec?.nodeName).map(({ metadata }) => metadata.name ?? ''),
    placedPod: consumers.find(isPlaced),
  };
}

/**
 * Enqueues the PVC that a volume refers to and the PVCs that refer to the volume; for an unbound volume, the first PVC
 * that it satisfies.
 */
function claimsOfVolume({ type, object, previous }: Change<PersistentVolume>, caches: Caches): readonly Key[] {
  const claims = caches.of(persistentVolumeClaim);
  const keys = [object, ...(previous ? [previous] : [])].flatMap(byClaim);
  const naming = claims.byIndex(byVolume, object.metadata.name ?? '').map(keyOf);
  const isFree = type !== 'deleted' && !object.spec?.claimRef && object.status?.phase === 'Available';
  const choice = { kept: [], free: [object], isDelayed: false };
  const first = isFree
    ? claims.byIndex(unboundByClass, classOfVolume(object)).find((claim) => chooseVolume(claim, choice))
    : undefined;
  return [...new Set([...keys, ...naming, ...(first ? [keyOf(first)] : [])])];
}

/** Enqueues the PVCs of a storage class and, as it may be the default class, the PVCs without a class. */
function claimsOfClass({ object }: Change<StorageClass>, caches: Caches): readonly Key[] {
  const claims = caches.of(persistentVolumeClaim);
  const unclassed = claims.byIndex(unboundByClass, '').filter((claim) => !hasStorageClass(claim));
  return [...claims.byIndex(unboundByClass, object.metadata.name ?? ''), ...unclassed].map(keyOf);
}

const volumeController = defineController({
  name: 'persistentvolume-binder-volumes',
  component: 'persistentvolume-controller',
  for: persistentVolume,
  watches: [watch(persistentVolumeClaim, (change, caches) => volumesOfClaim(change, caches))],
  observe: observeVolume,
  fetch: confirmPvcDeleted,
  decide: decideVolume,
});

function volumesOfClaim({ object }: Change<PersistentVolumeClaim>, caches: Caches): readonly Key[] {
  return caches.of(persistentVolume).byIndex(byClaim, keyOf(object)).map(keyOf);
}

function observeVolume(caches: Caches, key: Key): VolumeObserved | undefined {
  const volume = caches.of(persistentVolume).get(key);
  if (!volume) return undefined;
  const { claimRef } = volume.spec ?? {};
  return { volume, claim: claimRef ? caches.of(persistentVolumeClaim).get(claimKeyOf(claimRef)) : undefined };
}

/** The cache may be stale: before a volume is released, its PVC is confirmed to be gone by a live read. */
async function confirmPvcDeleted(observed: VolumeObserved, client: Client): Promise<VolumeObserved> {
  const { volume, claim } = observed;
  const { uid, name = '', namespace = '' } = volume.spec?.claimRef ?? {};
  if (!uid || claim?.metadata.uid === uid || isReleased(volume)) return observed;
  try {
    return { volume, claim: await client.get(persistentVolumeClaim, { name, namespace }) };
  } catch (error) {
    if (isNotFound(error)) return { volume, claim: undefined };
    throw error;
  }
}

function claimKeyOf({ name = '', namespace = '' }: { readonly name?: string; readonly namespace?: string }): Key {
  return keyFor({ name, namespace });
}
