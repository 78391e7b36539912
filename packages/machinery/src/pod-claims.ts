/** The claims of storage a Pod has: those it names, and those that are made for it. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { isControlledBy } from './owner-references.ts';

/** A claim that a Pod names, or that is made for it under a name of its own. */
export type ClaimName = { readonly name: string; readonly isEphemeral: boolean };

/** The claims of a Pod, in the order of its volumes. */
export function claimNames(pod: Pod): readonly ClaimName[] {
  const names: ClaimName[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    if (volume.persistentVolumeClaim) names.push({ name: volume.persistentVolumeClaim.claimName, isEphemeral: false });
    else if (volume.ephemeral) names.push({ name: ephemeralClaimName(pod, volume.name), isEphemeral: true });
  }
  return names;
}

/** The name of the claim that is made for a volume of a Pod. */
export function ephemeralClaimName({ metadata }: Pod, volume: string): string {
  return `${metadata.name}-${volume}`;
}

/** What is wrong with a claim that has the name of one made for a Pod, if it was not. */
export function faultOfEphemeralClaim(pod: Pod, claim: PersistentVolumeClaim): string | undefined {
  if (isControlledBy(claim, pod)) return undefined;
  const nameOf = ({ metadata }: Pod | PersistentVolumeClaim) => `${metadata.namespace}/${metadata.name}`;
  return `PVC ${nameOf(claim)} was not created for pod ${nameOf(pod)} (pod is not owner)`;
}
