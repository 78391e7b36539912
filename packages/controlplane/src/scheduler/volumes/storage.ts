/**
 * Scheduler view of PVCs, volumes and other storage objects: as in the cluster, or as assumed by the scheduler. An
 * assumed object is valid until a newer version is observed.
 */
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type CSIDriver, csiDriver } from '@kruise/api/storage/csidriver';
import { type CSINode, csiNode } from '@kruise/api/storage/csinode';
import { type CSIStorageCapacity, csiStorageCapacity } from '@kruise/api/storage/csistoragecapacity';
import { type StorageClass, storageClass } from '@kruise/api/storage/storageclass';
import { type VolumeAttachment, volumeAttachment } from '@kruise/api/storage/volumeattachment';
import type { Caches } from '@kruise/client/informer';
import { classOfVolume } from '@kruise/machinery/volume-binding';

/** Storage lookups. */
export type StorageLookup = {
  claim(key: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  volumesOfClass(name: string): readonly PersistentVolume[];
  storageClass(name: string): StorageClass | undefined;
  driver(name: string): CSIDriver | undefined;
  driversOn(node: string): CSINode | undefined;
  capacitiesOf(storageClass: string): readonly CSIStorageCapacity[];
  attachmentsTo(node: string): readonly VolumeAttachment[];
};

export type Storage = StorageLookup & {
  /** State in the cluster, without assumed objects. */
  readonly actual: StorageLookup;
  assumeClaim(claim: PersistentVolumeClaim): void;
  assumeVolume(volume: PersistentVolume): void;
  /** Reverts an assumed object whose binding failed. */
  restoreClaim(key: string): void;
  restoreVolume(name: string): void;
  /** Calls back on every change of the PVCs or of a volume, until the returned function is called. */
  listen(claims: readonly string[], callback: () => void): () => void;
  /** Notifies listeners of a changed PVC. */
  claimChanged(key: string): void;
};

/** Kinds that are looked up, besides PVCs and volumes. */
export const storageKinds = [
  persistentVolumeClaim,
  persistentVolume,
  storageClass,
  csiDriver,
  csiNode,
  csiStorageCapacity,
  volumeAttachment,
] as const;

const byClass = (volume: PersistentVolume): readonly string[] => [classOfVolume(volume)];
const byStorageClass = ({ storageClassName }: CSIStorageCapacity): readonly string[] => [storageClassName];
const byNode = ({ spec }: VolumeAttachment): readonly string[] => [spec.nodeName];

export function storageIn(caches: Caches): StorageLookup {
  return {
    claim: (key) => caches.of(persistentVolumeClaim).get(key),
    volume: (name) => caches.of(persistentVolume).get(name),
    volumesOfClass: (name) => caches.of(persistentVolume).byIndex(byClass, name),
    storageClass: (name) => caches.of(storageClass).get(name),
    driver: (name) => caches.of(csiDriver).get(name),
    driversOn: (node) => caches.of(csiNode).get(node),
    capacitiesOf: (name) => caches.of(csiStorageCapacity).byIndex(byStorageClass, name),
    attachmentsTo: (node) => caches.of(volumeAttachment).byIndex(byNode, node),
  };
}

type Versioned = { readonly metadata: { readonly resourceVersion?: string } };

export function createStorage(actual: StorageLookup): Storage {
  const claims = new Map<string, PersistentVolumeClaim>();
  const volumes = new Map<string, PersistentVolume>();
  const listeners = new Map<string, Set<() => void>>();

  /** Returns the assumed object, unless a newer version was observed. */
  const newest = <T extends Versioned>(assumed: Map<string, T>, key: string, object: T | undefined): T | undefined => {
    const guess = assumed.get(key);
    if (!guess) return object;
    if (guess.metadata.resourceVersion === object?.metadata.resourceVersion) return guess;
    assumed.delete(key);
    return object;
  };

  return {
    ...actual,
    actual,
    claim: (key) => newest(claims, key, actual.claim(key)),
    volume: (name) => newest(volumes, name, actual.volume(name)),
    volumesOfClass(name) {
      const found = actual.volumesOfClass(name);
      if (volumes.size === 0) return found;
      return found.map((volume) => newest(volumes, volume.metadata.name ?? '', volume) ?? volume);
    },
    assumeClaim: (claim) => void claims.set(`${claim.metadata.namespace}/${claim.metadata.name}`, claim),
    assumeVolume: (volume) => void volumes.set(volume.metadata.name ?? '', volume),
    restoreClaim: (key) => void claims.delete(key),
    restoreVolume: (name) => void volumes.delete(name),
    listen(keys, callback) {
      for (const key of keys) {
        const found = listeners.get(key);
        if (found) found.add(callback);
        else listeners.set(key, new Set([callback]));
      }
      return () => {
        for (const key of keys) {
          const found = listeners.get(key);
          found?.delete(callback);
          if (found?.size === 0) listeners.delete(key);
        }
      };
    },
    claimChanged(key) {
      for (const callback of [...(listeners.get(key) ?? [])]) callback();
    },
  };
}
