/** Pod status: a pure function of the runtime state and the previous status. */
import type { ContainerStatus, Pod, PodCondition, PodStatus } from '@kruise/api/core/pod';
import { computeQosClass } from '@kruise/api/core/pod-qos';
import { findCondition } from '@kruise/machinery/conditions';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { isStaticPod } from '../admission/critical.ts';
import { addressesOf, hasInitialized, isHostNetwork, sandboxChange } from '../runtime/runtime-pod.ts';
import { containerStatusesOf, type StatusInputs, unknownTermination } from './container-statuses.ts';
import { isTerminalPhase, type Phase, phaseOf } from './phase.ts';
import { type ConditionValue, conditionOf, conditionValues, isKubeletCondition } from './pod-conditions.ts';

/** Inputs of a Pod status. */
export type PodStatusInputs = Omit<StatusInputs, 'previous'> & {
  /** Previous status, reported by this kubelet or read from the API. */
  readonly previous: PodStatus;
  /** True while the Pod is terminating or terminated. */
  readonly isEnding: boolean;
  readonly hostIPs: readonly string[];
  /** Conditions of an in-place resize. */
  readonly resizeClaims: readonly ConditionValue[];
  readonly now: Instant;
};

/** Message of a Pod that exceeded its activeDeadlineSeconds. */
export const deadlineMessage = 'Pod was active on the node longer than the specified deadline';

/** Returns the status of a Pod. */
export function podStatusOf(inputs: PodStatusInputs): PodStatus {
  const { pod, runtimePod, previous, isEnding, now } = inputs;
  const all = [
    ...(previous.initContainerStatuses ?? []),
    ...(previous.containerStatuses ?? []),
    ...(previous.ephemeralContainerStatuses ?? []),
  ];
  const { init, regular, ephemeral } = containerStatusesOf({ ...inputs, previous: all });
  const statuses = [...init, ...regular];
  const found = phaseOf(pod, {
    statuses,
    isEnding,
    hasInitialized: hasInitialized(pod, runtimePod),
    isStatic: isStaticPod(pod),
  });
  const phaseStatus = phaseStatusOf(inputs, found);
  const api = pod.status ?? {};
  const conditionsOfKubelet = conditionValues({
    pod,
    statuses,
    phase: phaseStatus.phase,
    hasSandbox: !sandboxChange(pod, runtimePod).isNeeded,
    foreign: api.conditions ?? [],
  });
  const disruption =
    findCondition(previous.conditions, 'DisruptionTarget') ?? findCondition(api.conditions, 'DisruptionTarget');
  const known = { reported: previous.conditions, api: api.conditions };
  const conditions: PodCondition[] = [];
  for (const each of api.conditions ?? []) {
    if (!isKubeletCondition(each.type) && each.type !== 'DisruptionTarget') conditions.push(each);
  }
  for (const value of inputs.resizeClaims) conditions.push(conditionOf(value, known, now));
  if (disruption) conditions.push(disruption);
  for (const value of conditionsOfKubelet) conditions.push(conditionOf(value, known, now));
  const { nominatedNodeName, resourceClaimStatuses } = api;
  return {
    ...phaseStatus,
    conditions,
    ...(nominatedNodeName ? { nominatedNodeName } : {}),
    ...(resourceClaimStatuses ? { resourceClaimStatuses } : {}),
    ...addressFields(inputs),
    startTime: previous.startTime ?? api.startTime ?? formatTime(now),
    ...(init.length > 0 ? { initContainerStatuses: truncateMessages(init, statuses.length + ephemeral.length) } : {}),
    containerStatuses: truncateMessages(regular, statuses.length + ephemeral.length),
    ...(ephemeral.length > 0 ? { ephemeralContainerStatuses: [...ephemeral] } : {}),
    qosClass: api.qosClass ?? (pod.spec ? computeQosClass(pod.spec) : 'BestEffort'),
  };
}

type PhaseStatus = { readonly phase: Phase; readonly reason?: string; readonly message?: string };

/** Returns phase, reason and message. A terminal phase never changes, and the reason of an unchanged phase is kept. */
function phaseStatusOf({ pod, previous, now }: PodStatusInputs, found: Phase): PhaseStatus {
  const api = pod.status ?? {};
  const phase = isTerminalPhase(api.phase) ? api.phase : isTerminalPhase(previous.phase) ? previous.phase : found;
  if (!isTerminalPhase(phase) && isPastDeadline(pod, previous, now)) {
    return { phase: 'Failed', reason: 'DeadlineExceeded', message: deadlineMessage };
  }
  const [first, second] = phase === previous.phase ? [previous, api] : phase === api.phase ? [api, {}] : [{}, {}];
  const reason = first.reason || second.reason;
  const message = first.message || second.message;
  return { phase, ...(reason ? { reason } : {}), ...(message ? { message } : {}) };
}

/** Returns when a Pod exceeds its activeDeadlineSeconds, if it has one. */
export function deadlineOf({ spec }: Pod, { startTime }: PodStatus): Instant | undefined {
  const seconds = spec?.activeDeadlineSeconds;
  return seconds == null || !startTime ? undefined : parseTime(startTime) + seconds * 1000;
}

function isPastDeadline(pod: Pod, status: PodStatus, now: Instant): boolean {
  const deadline = deadlineOf(pod, status);
  return deadline !== undefined && now >= deadline;
}

function addressFields({ pod, runtimePod, previous, hostIPs }: PodStatusInputs) {
  const own = isHostNetwork(pod) ? hostIPs : orderByFamily(addressesOf(runtimePod), hostIPs);
  // A Pod without a sandbox keeps its last IPs, for debugging.
  const ips = own.length > 0 ? own : (previous.podIPs ?? []).map(({ ip }) => ip);
  const [hostIP] = hostIPs;
  const [podIP] = ips;
  return {
    ...(hostIP ? { hostIP, hostIPs: hostIPs.map((ip) => ({ ip })) } : {}),
    ...(podIP ? { podIP, podIPs: ips.map((ip) => ({ ip })) } : {}),
  };
}

/** Orders IPs so that the primary IP family of the node comes first. */
function orderByFamily(ips: readonly string[], [hostIP = '']: readonly string[]): readonly string[] {
  const isIPv6 = hostIP.includes(':');
  return ips.toSorted((a, b) => Number(a.includes(':') !== isIPv6) - Number(b.includes(':') !== isIPv6));
}

const maxMessageBytes = 12 * 1024;

/** Truncates termination messages so that all containers together stay within the limit. */
function truncateMessages(statuses: readonly ContainerStatus[], count: number): ContainerStatus[] {
  const limit = Math.floor(maxMessageBytes / Math.max(1, count));
  return statuses.map((status) => {
    const isLong = (state: ContainerStatus['state']) => Buffer.byteLength(state?.terminated?.message ?? '') > limit;
    if (!isLong(status.state) && !isLong(status.lastState)) return status;
    return {
      ...status,
      state: truncateMessage(status.state, limit),
      lastState: truncateMessage(status.lastState, limit),
    };
  });
}

function truncateMessage(state: ContainerStatus['state'], limit: number): NonNullable<ContainerStatus['state']> {
  const { terminated } = state ?? {};
  if (!terminated?.message) return state ?? {};
  const bytes = Buffer.from(terminated.message);
  if (bytes.length <= limit) return { terminated };
  // The cut must not split a UTF-8 character.
  let end = limit;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return { terminated: { ...terminated, message: bytes.toString('utf8', 0, end) } };
}

/** Returns the status of a terminated Pod: no container is left running or waiting. */
export function terminatedStatus(pod: Pod, status: PodStatus): PodStatus {
  const wasInitialized = findCondition(status.conditions, 'Initialized')?.status === 'True';
  const asTerminated = (each: ContainerStatus): ContainerStatus => {
    if (each.state?.terminated) return each;
    return { ...each, ready: false, started: false, state: { terminated: unknownTermination } };
  };
  const { containerStatuses = [], initContainerStatuses, ephemeralContainerStatuses } = status;
  // Containers that never started because initialization did not complete keep their waiting state.
  const regular = wasInitialized ? containerStatuses.map(asTerminated) : containerStatuses;
  const phase = isTerminalPhase(status.phase) || isStaticPod(pod) ? status.phase : 'Failed';
  return {
    ...status,
    ...(phase ? { phase } : {}),
    ...(initContainerStatuses
      ? { initContainerStatuses: initContainerStatuses.map(asTerminatedInit(initContainerStatuses)) }
      : {}),
    containerStatuses: regular,
    ...(ephemeralContainerStatuses ? { ephemeralContainerStatuses: ephemeralContainerStatuses.map(asTerminated) } : {}),
  };

  /** Init containers after the last one that started never started, so they are not terminated. */
  function asTerminatedInit(statuses: readonly ContainerStatus[]) {
    const lastStarted = statuses.findLastIndex(({ state, lastState }) =>
      Boolean(state?.running ?? state?.terminated ?? lastState?.terminated),
    );
    return (each: ContainerStatus, index: number) =>
      index <= lastStarted || wasInitialized ? asTerminated(each) : each;
  }
}
