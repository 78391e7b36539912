/** Cleanup of a CloneSet's PVCs whose Pods are gone. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import { type Action, isBeingDeleted, parallelByKind, patch, remove, withOutcomeEvents } from '@kruise/client/actions';
import { controllerReference, withoutOwner } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { instanceIdOf } from './instances.ts';

type PodsAndClaims = { readonly pods: readonly Pod[]; readonly claims: readonly PersistentVolumeClaim[] };

/**
 * Returns the PVCs that the CloneSet may use. Where PVC reuse is disabled, the PVCs of a terminating Pod are handed
 * over to that Pod (as owner), and PVCs without a Pod are deleted.
 */
export function usableVolumeClaims(cloneSet: CloneSet, { pods, claims }: PodsAndClaims) {
  const present = claims.filter((claim) => !isBeingDeleted(claim));
  if (cloneSet.spec.scaleStrategy?.enablePVCReuse) return { kept: present, actions: [] };
  const usingPods = new Map(pods.map((pod) => [instanceIdOf(pod), pod]));
  const kept: PersistentVolumeClaim[] = [];
  const actions: Action[] = [];
  for (const claim of present) {
    const usingPod = usingPods.get(instanceIdOf(claim));
    if (usingPod && isPodActive(usingPod)) kept.push(claim);
    else if (usingPod) actions.push(transferOwnership(cloneSet, claim, usingPod));
    else actions.push(deleteOrphanedClaim(cloneSet, claim));
  }
  return { kept, actions: parallelByKind(actions) };
}

function transferOwnership(cloneSet: CloneSet, claim: PersistentVolumeClaim, { metadata }: Pod): Action {
  const { ownerReferences, resourceVersion } = claim.metadata;
  const { name = '', uid = '' } = metadata;
  const usingPod = controllerReference({ apiVersion: 'v1', kind: 'Pod', metadata: { name, uid } });
  const owners = [...withoutOwner(ownerReferences, cloneSet.metadata.uid ?? ''), usingPod];
  return withOutcomeEvents(patch(claim, { metadata: { resourceVersion, ownerReferences: owners } }), {
    about: cloneSet,
    failed: { reason: 'FailedUpdate', message: 'failed to update PVC {name}: {error}' },
  });
}

function deleteOrphanedClaim(cloneSet: CloneSet, claim: PersistentVolumeClaim): Action {
  return withOutcomeEvents(remove(claim), {
    about: cloneSet,
    failed: { reason: 'FailedDelete', message: 'failed to clean up PVC {name}: {error}' },
  });
}
