/** Status of Pods that the kubelet terminates: preemption, node shutdown and eviction. */
import type { PodStatus } from '@kruise/api/core/pod';
import { formatTime, type Instant } from '@kruise/values/time';

export const preemptionMessage = 'Preempted in order to admit critical pod';

/** Returns the status of a preempted Pod. */
export function preemptedStatus(status: PodStatus, now: Instant): PodStatus {
  const conditionMessage = 'Pod was preempted by Kubelet to accommodate a critical pod.';
  return withDisruptionTarget({ ...status, reason: 'Preempting', message: preemptionMessage }, conditionMessage, now);
}

/** Returns the status of a Pod terminated by a node shutdown. */
export function shutDownStatus(status: PodStatus, now: Instant): PodStatus {
  const message = 'Pod was terminated in response to imminent node shutdown.';
  return withDisruptionTarget({ ...status, reason: 'Terminated', message }, message, now);
}

/** Returns the status of a Pod evicted under node pressure. */
export function evictedStatus(status: PodStatus, message: string, now: Instant): PodStatus {
  return withDisruptionTarget({ ...status, reason: 'Evicted', message }, message, now);
}

/** Returns the status of a Pod that exceeded its own limits. It is no disruption, so DisruptionTarget is not set. */
export function overLimitStatus(status: PodStatus, message: string): PodStatus {
  return { ...status, phase: 'Failed', reason: 'Evicted', message };
}

/** Returns a Failed status with the DisruptionTarget condition. */
function withDisruptionTarget(status: PodStatus, conditionMessage: string, now: Instant): PodStatus {
  return {
    ...status,
    phase: 'Failed',
    conditions: [
      ...(status.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget'),
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'TerminationByKubelet',
        message: conditionMessage,
        lastProbeTime: null,
        lastTransitionTime: formatTime(now),
      },
    ],
  };
}
