/** PVCs of a Pod: referenced ones, and those of ephemeral volumes. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { isControlledBy } from './owner-references.ts';

/** A PVC that a Pod references, or the PVC of an ephemeral volume. */
export type PodVolumeClaim = { readonly name: string; readonly isEphemeral: boolean };

/**
 * Returns the PVCs of a Pod in the order of its volumes.
 *
 * ```ts
 * const names = podVolumeClaims(web).map(({ name }) => name);
 * ```
 */
export function podVolumeClaims(pod: Pod): readonly PodVolumeClaim[] {
  const names: PodVolumeClaim[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    if (volume.persistentVolumeClaim) names.push({ name: volume.persistentVolumeClaim.claimName, isEphemeral: false });
    else if (volume.ephemeral) names.push({ name: ephemeralVolumeClaimName(pod, volume.name), isEphemeral: true });
  }
  return names;
}

/** Returns the name of the PVC of an ephemeral volume. */
export function ephemeralVolumeClaimName({ metadata }: Pod, volume: string): string {
  return `${metadata.name}-${volume}`;
}

/** Returns an error if a PVC has the name of an ephemeral volume's PVC but was not created for the Pod. */
export function validateEphemeralVolumeClaim(pod: Pod, claim: PersistentVolumeClaim): string | undefined {
  if (isControlledBy(claim, pod)) return undefined;
  const nameOf = ({ metadata }: Pod | PersistentVolumeClaim) => `${metadata.namespace}/${metadata.name}`;
  return `PVC ${nameOf(claim)} was not created for pod ${nameOf(pod)} (pod is not owner)`;
}
