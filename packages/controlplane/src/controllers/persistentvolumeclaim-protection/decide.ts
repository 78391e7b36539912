import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { hasFinalizer, isBeingDeleted, update, withFinalizer, withoutFinalizer } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { podVolumeClaims, validateEphemeralVolumeClaim } from '@kruise/machinery/pod-volume-claims';

export type Observed = {
  readonly claim: PersistentVolumeClaim;
  /** Pods that may use the PVC, including all that do. */
  readonly pods: readonly Pod[];
};

const finalizer = 'kubernetes.io/pvc-protection';

/** Reports whether a PVC is terminating and only held by the protection finalizer. */
export function isReadyForRemoval(claim: PersistentVolumeClaim): boolean {
  return isBeingDeleted(claim) && hasFinalizer(claim, finalizer);
}

/**
 * Adds the protection finalizer from the start, and removes it when no scheduled Pod uses the PVC, finished Pods
 * included.
 */
export function decide({ claim, pods }: Observed): Decision<never> {
  if (isReadyForRemoval(claim)) {
    return { actions: isUsed(claim, pods) ? [] : [update(withoutFinalizer(claim, finalizer))] };
  }
  const hasProtectionFinalizer = isBeingDeleted(claim) || hasFinalizer(claim, finalizer);
  return { actions: hasProtectionFinalizer ? [] : [update(withFinalizer(claim, finalizer))] };
}

/**
 * Reports whether a Pod uses a PVC. A Pod that is not scheduled yet does not count: kubelets reject terminating PVCs.
 */
export function isUsed(claim: PersistentVolumeClaim, pods: readonly Pod[]): boolean {
  return pods.some((pod) => {
    if (!pod.spec?.nodeName) return false;
    return podVolumeClaims(pod).some(({ name, isEphemeral }) => {
      if (name !== claim.metadata.name) return false;
      return !isEphemeral || (!isShutDown(pod) && validateEphemeralVolumeClaim(pod, claim) === undefined);
    });
  });
}

/** Reports whether the kubelet has terminated a Pod, or it was force-deleted, and only finalizers hold its object. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp != null && metadata.deletionGracePeriodSeconds === 0;
}
