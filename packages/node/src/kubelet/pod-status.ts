/** Pod status: a pure function of the runtime state and the previous status. */
import type { ContainerStatus, Pod, PodCondition, PodStatus } from '@kruise/api/core/pod';
import { computeQosClass } from '@kruise/api/core/pod-qos';
import { findCondition } from '@kruise/machinery/conditions';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { containerStatusesOf, type StatusFacts, unknownEnd } from './container-statuses.ts';
import { isStaticPod } from './critical.ts';
import { isFinal, type Phase, phaseOf } from './phase.ts';
import { type Claim, claimsOf, conditionOf, isKubeletCondition } from './pod-conditions.ts';
import { addressesOf, hasInitialized, isHostNetwork, sandboxChange } from './runtime-pod.ts';

/** Inputs of a Pod status. */
export type PodStatusFacts = Omit<StatusFacts, 'previous'> & {
  /** Previous status, reported by this kubelet or read from the API. */
  readonly previous: PodStatus;
  /** True while the Pod is terminating or terminated. */
  readonly isEnding: boolean;
  readonly hostIPs: readonly string[];
  /** Conditions of an in-place resize. */
  readonly resizeClaims: readonly Claim[];
  readonly now: Instant;
};

/** Message of a Pod that exceeded its activeDeadlineSeconds. */
export const deadlineMessage = 'Pod was active on the node longer than the specified deadline';

/** Returns the status of a Pod. */
export function podStatusOf(facts: PodStatusFacts): PodStatus {
  const { pod, runtimePod, previous, isEnding, now } = facts;
  const all = [
    ...(previous.initContainerStatuses ?? []),
    ...(previous.containerStatuses ?? []),
    ...(previous.ephemeralContainerStatuses ?? []),
  ];
  const { init, regular, ephemeral } = containerStatusesOf({ ...facts, previous: all });
  const statuses = [...init, ...regular];
  const found = phaseOf(pod, {
    statuses,
    isEnding,
    hasInitialized: hasInitialized(pod, runtimePod),
    isStatic: isStaticPod(pod),
  });
  const verdict = verdictOf(facts, found);
  const api = pod.status ?? {};
  const claims = claimsOf({
    pod,
    statuses,
    phase: verdict.phase,
    hasSandbox: !sandboxChange(pod, runtimePod).isNeeded,
    foreign: api.conditions ?? [],
  });
  const disruption =
    findCondition(previous.conditions, 'DisruptionTarget') ?? findCondition(api.conditions, 'DisruptionTarget');
  const known = { said: previous.conditions, api: api.conditions };
  const conditions: PodCondition[] = [];
  for (const each of api.conditions ?? []) {
    if (!isKubeletCondition(each.type) && each.type !== 'DisruptionTarget') conditions.push(each);
  }
  for (const claim of facts.resizeClaims) conditions.push(conditionOf(claim, known, now));
  if (disruption) conditions.push(disruption);
  for (const claim of claims) conditions.push(conditionOf(claim, known, now));
  const { nominatedNodeName, resourceClaimStatuses } = api;
  return {
    ...verdict,
    conditions,
    ...(nominatedNodeName ? { nominatedNodeName } : {}),
    ...(resourceClaimStatuses ? { resourceClaimStatuses } : {}),
    ...addressFields(facts),
    startTime: previous.startTime ?? api.startTime ?? formatTime(now),
    ...(init.length > 0 ? { initContainerStatuses: shortened(init, statuses.length + ephemeral.length) } : {}),
    containerStatuses: shortened(regular, statuses.length + ephemeral.length),
    ...(ephemeral.length > 0 ? { ephemeralContainerStatuses: [...ephemeral] } : {}),
    qosClass: api.qosClass ?? (pod.spec ? computeQosClass(pod.spec) : 'BestEffort'),
  };
}

type Verdict = { readonly phase: Phase; readonly reason?: string; readonly message?: string };

/** Returns phase, reason and message. A terminal phase never changes, and the reason of an unchanged phase is kept. */
function verdictOf({ pod, previous, now }: PodStatusFacts, found: Phase): Verdict {
  const api = pod.status ?? {};
  const phase = isFinal(api.phase) ? api.phase : isFinal(previous.phase) ? previous.phase : found;
  if (!isFinal(phase) && isPastDeadline(pod, previous, now)) {
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

function addressFields({ pod, runtimePod, previous, hostIPs }: PodStatusFacts) {
  const own = isHostNetwork(pod) ? hostIPs : ordered(addressesOf(runtimePod), hostIPs);
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
function ordered(ips: readonly string[], [hostIP = '']: readonly string[]): readonly string[] {
  const isSixth = hostIP.includes(':');
  return ips.toSorted((a, b) => Number(a.includes(':') !== isSixth) - Number(b.includes(':') !== isSixth));
}

const maxMessageBytes = 12 * 1024;

/** Truncates termination messages so that all containers together stay within the limit. */
function shortened(statuses: readonly ContainerStatus[], count: number): ContainerStatus[] {
  const limit = Math.floor(maxMessageBytes / Math.max(1, count));
  return statuses.map((status) => {
    const isLong = (state: ContainerStatus['state']) => Buffer.byteLength(state?.terminated?.message ?? '') > limit;
    if (!isLong(status.state) && !isLong(status.lastState)) return status;
    return { ...status, state: cut(status.state, limit), lastState: cut(status.lastState, limit) };
  });
}

function cut(state: ContainerStatus['state'], limit: number): NonNullable<ContainerStatus['state']> {
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
export function finishedStatus(pod: Pod, status: PodStatus): PodStatus {
  const wasInitialized = findCondition(status.conditions, 'Initialized')?.status === 'True';
  const ended = (each: ContainerStatus): ContainerStatus => {
    if (each.state?.terminated) return each;
    return { ...each, ready: false, started: false, state: { terminated: unknownEnd } };
  };
  const { containerStatuses = [], initContainerStatuses, ephemeralContainerStatuses } = status;
  // Containers that never started because initialization did not complete keep their waiting state.
  const regular = wasInitialized ? containerStatuses.map(ended) : containerStatuses;
  const phase = isFinal(status.phase) || isStaticPod(pod) ? status.phase : 'Failed';
  return {
    ...status,
    ...(phase ? { phase } : {}),
    ...(initContainerStatuses
      ? { initContainerStatuses: initContainerStatuses.map(endedInit(initContainerStatuses)) }
      : {}),
    containerStatuses: regular,
    ...(ephemeralContainerStatuses ? { ephemeralContainerStatuses: ephemeralContainerStatuses.map(ended) } : {}),
  };

  /** Init containers after the last one that started never started, so they are not terminated. */
  function endedInit(statuses: readonly ContainerStatus[]) {
    const lastBegun = statuses.findLastIndex(({ state, lastState }) =>
      Boolean(state?.running ?? state?.terminated ?? lastState?.terminated),
    );
    return (each: ContainerStatus, index: number) => (index <= lastBegun || wasInitialized ? ended(each) : each);
  }
}
