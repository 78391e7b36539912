/** What is said of Pods that their node ends before their time. */
import type { PodStatus } from '@kruise/api/core/pod';
import { formatTime, type Instant } from '@kruise/values/time';

export const preemptionMessage = 'Preempted in order to admit critical pod';

/** What is said of a Pod that made room. */
export function preemptedStatus(status: PodStatus, now: Instant): PodStatus {
  const because = 'Pod was preempted by Kubelet to accommodate a critical pod.';
  return disrupted({ ...status, reason: 'Preempting', message: preemptionMessage }, because, now);
}

/** What is said of a Pod that ends with its machine. */
export function shutDownStatus(status: PodStatus, now: Instant): PodStatus {
  const message = 'Pod was terminated in response to imminent node shutdown.';
  return disrupted({ ...status, reason: 'Terminated', message }, message, now);
}

/** What is said of a Pod that had to go for want of something. */
export function evictedStatus(status: PodStatus, message: string, now: Instant): PodStatus {
  return disrupted({ ...status, reason: 'Evicted', message }, message, now);
}

/** What is said of a Pod that did not keep its own limits: that is nobody else's doing. */
export function overLimitStatus(status: PodStatus, message: string): PodStatus {
  return { ...status, phase: 'Failed', reason: 'Evicted', message };
}

/** A status that says the Pod failed, though not by its own doing. */
function disrupted(status: PodStatus, because: string, now: Instant): PodStatus {
  return {
    ...status,
    phase: 'Failed',
    conditions: [
      ...(status.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget'),
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'TerminationByKubelet',
        message: because,
        lastProbeTime: null,
        lastTransitionTime: formatTime(now),
      },
    ],
  };
}
