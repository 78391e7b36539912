import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { hasFinalizer, isBeingDeleted, update, withFinalizer, withoutFinalizer } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { claimNames, faultOfEphemeralClaim } from '@kruise/machinery/pod-claims';

export type Observed = {
  readonly claim: PersistentVolumeClaim;
  /** Pods that may use it: all that do are among them. */
  readonly pods: readonly Pod[];
};

const finalizer = 'kubernetes.io/pvc-protection';

/** Whether all there is between a claim and its end is that nobody uses it. */
export function isToGo(claim: PersistentVolumeClaim): boolean {
  return isBeingDeleted(claim) && hasFinalizer(claim, finalizer);
}

/** A claim is held from the beginning, and stays as long as a Pod that has a node uses it, even one that has ended. */
export function decide({ claim, pods }: Observed): Decision<never> {
  if (isToGo(claim)) {
    return { actions: isUsed(claim, pods) ? [] : [update(withoutFinalizer(claim, finalizer))] };
  }
  const isHeld = isBeingDeleted(claim) || hasFinalizer(claim, finalizer);
  return { actions: isHeld ? [] : [update(withFinalizer(claim, finalizer))] };
}

/** Whether a Pod uses a claim. One that has no node yet will not start: its kubelet refuses claims that are to go. */
export function isUsed(claim: PersistentVolumeClaim, pods: readonly Pod[]): boolean {
  return pods.some((pod) => {
    if (!pod.spec?.nodeName) return false;
    return claimNames(pod).some(({ name, isEphemeral }) => {
      if (name !== claim.metadata.name) return false;
      return !isEphemeral || (!isShutDown(pod) && faultOfEphemeralClaim(pod, claim) === undefined);
    });
  });
}

/** Whether the kubelet is done with a Pod, or nobody wanted to wait for it; something else may hold its object. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp != null && metadata.deletionGracePeriodSeconds === 0;
}
