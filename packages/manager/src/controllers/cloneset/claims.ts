/** Cleanup of a CloneSet's PVCs whose Pods are gone. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import { type Action, announced, isBeingDeleted, patch, remove } from '@kruise/client/actions';
import { controllerReference, withoutOwner } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { instanceIdOf } from './instances.ts';

type Found = { readonly pods: readonly Pod[]; readonly claims: readonly PersistentVolumeClaim[] };

/**
 * Returns the PVCs that the CloneSet may use. Where PVC reuse is disabled, the PVCs of a terminating Pod are handed
 * over to that Pod (as owner), and PVCs without a Pod are deleted.
 */
export function ownClaims(cloneSet: CloneSet, { pods, claims }: Found) {
  const present = claims.filter((claim) => !isBeingDeleted(claim));
  if (cloneSet.spec.scaleStrategy?.enablePVCReuse) return { kept: present, actions: [] };
  const holders = new Map(pods.map((pod) => [instanceIdOf(pod), pod]));
  const kept: PersistentVolumeClaim[] = [];
  const actions: Action[] = [];
  for (const claim of present) {
    const holder = holders.get(instanceIdOf(claim));
    if (holder && isPodActive(holder)) kept.push(claim);
    else if (holder) actions.push(handOver(cloneSet, claim, holder));
    else actions.push(cleanUp(cloneSet, claim));
  }
  return { kept, actions };
}

function handOver(cloneSet: CloneSet, claim: PersistentVolumeClaim, { metadata }: Pod): Action {
  const { ownerReferences, resourceVersion } = claim.metadata;
  const { name = '', uid = '' } = metadata;
  const holder = controllerReference({ apiVersion: 'v1', kind: 'Pod', metadata: { name, uid } });
  const owners = [...withoutOwner(ownerReferences, cloneSet.metadata.uid ?? ''), holder];
  return announced(patch(claim, { metadata: { resourceVersion, ownerReferences: owners } }), {
    about: cloneSet,
    failed: { reason: 'FailedUpdate', message: 'failed to update PVC {name}: {error}' },
  });
}

function cleanUp(cloneSet: CloneSet, claim: PersistentVolumeClaim): Action {
  return announced(remove(claim), {
    about: cloneSet,
    failed: { reason: 'FailedDelete', message: 'failed to clean up PVC {name}: {error}' },
  });
}
