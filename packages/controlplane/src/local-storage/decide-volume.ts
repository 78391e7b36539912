import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import { effect, hasFinalizer, isBeingDeleted, remove, update, withoutFinalizer } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { provisionedByAnnotation } from '@kruise/machinery/volume-binding';
import { finalizer, nodeAnnotation, provisioner } from './names.ts';

/** A directory on a node. */
export type Directory = { readonly node: string; readonly path: string };

/** Deletes the files of a released volume, then its object, unless the reclaim policy is Retain. */
export function decideVolume(volume: PersistentVolume): Decision<never> {
  const { metadata, spec, status } = volume;
  const isOurs = metadata.annotations?.[provisionedByAnnotation] === provisioner;
  if (!isOurs || status?.phase === 'Bound') return { actions: [] };
  const directory: Directory = { node: metadata.annotations?.[nodeAnnotation] ?? '', path: spec?.hostPath?.path ?? '' };
  const empty = spec?.persistentVolumeReclaimPolicy === 'Delete' ? [effect('remove directory', directory)] : [];
  if (isBeingDeleted(volume)) {
    const isProtected = hasFinalizer(volume, finalizer);
    return { actions: isProtected ? [...empty, update(withoutFinalizer(volume, finalizer))] : [] };
  }
  const isReleased = status?.phase === 'Released' && empty.length > 0;
  return { actions: isReleased ? [...empty, remove(volume)] : [] };
}
