/**
 * The two readiness gates by which Kruise makes a Pod not ready (inplace-update.md §9): `InPlaceUpdateReady`, which
 * after its first word the workload's controller alone writes, and `KruisePodReady`, which any number of parts may hold at
 * False, each under a key of its own.
 *
 * Only False is written together with the Pod's own Ready, so that traffic stops before the kubelet has looked. Ready is
 * never turned True here: the kubelet knows better.
 */
import type { Pod, PodCondition } from '@kruise/api/core/pod';
import { inPlaceUpdateReadyCondition, kruisePodReadyCondition } from '@kruise/api/kruise/well-known';
import type { PatchAction } from '@kruise/client/actions';
import { findCondition, isConditionTrue } from '@kruise/machinery/conditions';
import { compareStrings } from '@kruise/values/go-syntax';
import { formatTime, type Instant } from '@kruise/values/time';

/** Who holds a Pod not ready, and why. */
export type NotReadyKey = { readonly userAgent: string; readonly key: string };

/** Whether a Pod's readiness depends on a condition. */
export function hasReadinessGate({ spec }: Pod, conditionType: string): boolean {
  return spec?.readinessGates?.some((gate) => gate.conditionType === conditionType) ?? false;
}

/** Stops traffic to a Pod for an update in place, whatever its conditions are thought to be. */
export function beginInPlaceUpdate(pod: Pod, now: Instant): PatchAction {
  const condition = {
    type: inPlaceUpdateReadyCondition,
    status: 'False',
    reason: 'StartInPlaceUpdate',
    lastTransitionTime: formatTime(now),
  } as const;
  return writeConditions(pod, withNotReady(pod, condition, now));
}

/** Whether nobody has said anything yet of a Pod's readiness as far as Kruise is concerned. */
export function awaitsFirstWord(pod: Pod): boolean {
  return (
    hasReadinessGate(pod, kruisePodReadyCondition) && !findCondition(pod.status?.conditions, kruisePodReadyCondition)
  );
}

/** Whether nobody has said anything of either gate yet. */
export function awaitsBothWords(pod: Pod): boolean {
  const hasWord = findCondition(pod.status?.conditions, inPlaceUpdateReadyCondition) !== undefined;
  return !hasWord && awaitsFirstWord(pod) && hasReadinessGate(pod, inPlaceUpdateReadyCondition);
}

/**
 * Lets traffic to a Pod, again or for the first time, and then past both gates at once; nothing if it may come already.
 * Fails if the Pod is not what it was judged by any more: another update may have begun meanwhile.
 */
export function endInPlaceUpdate(pod: Pod, now: Instant): PatchAction[] {
  const present = findCondition(pod.status?.conditions, inPlaceUpdateReadyCondition);
  if (present?.status === 'True' && !present.reason && !present.message) return [];
  const gates = [inPlaceUpdateReadyCondition, ...(awaitsFirstWord(pod) ? [kruisePodReadyCondition] : [])];
  return [openGates(pod, gates, now, { atVersion: true })];
}

/** Says of gates that traffic may pass. */
export function openGates(
  pod: Pod,
  gates: readonly string[],
  now: Instant,
  options?: { readonly atVersion?: boolean },
): PatchAction {
  const lastTransitionTime = formatTime(now);
  const conditions = gates.map((type): PodCondition => ({ type, status: 'True', lastTransitionTime }));
  return writeConditions(pod, conditions, options);
}

/** Holds a Pod not ready under a key; nothing if it is held so already, or has no such gate. */
export function holdNotReady(pod: Pod, key: NotReadyKey, now: Instant): PatchAction[] {
  if (!hasReadinessGate(pod, kruisePodReadyCondition)) return [];
  const keys = keysOf(pod);
  const isHeld = keys.some((each) => isSameKey(each, key));
  if (isHeld && !isConditionTrue(pod.status?.conditions, kruisePodReadyCondition)) return [];
  const condition = conditionOf(isHeld ? keys : [...keys, key], now);
  // The keys of others are in the same message, so none may have been added meanwhile.
  return [writeConditions(pod, withNotReady(pod, condition, now), { atVersion: true })];
}

/** Takes a key away; the Pod may be ready again once there is none left. */
export function releaseNotReady(pod: Pod, key: NotReadyKey, now: Instant): PatchAction[] {
  const keys = keysOf(pod);
  const left = keys.filter((each) => !isSameKey(each, key));
  if (!hasReadinessGate(pod, kruisePodReadyCondition) || left.length === keys.length) return [];
  return [writeConditions(pod, [conditionOf(left, now)], { atVersion: true })];
}

function keysOf(pod: Pod): readonly NotReadyKey[] {
  const message = findCondition(pod.status?.conditions, kruisePodReadyCondition)?.message;
  if (!message) return [];
  try {
    const keys: unknown = JSON.parse(message);
    return Array.isArray(keys) ? (keys as NotReadyKey[]) : [];
  } catch {
    // Whatever somebody else wrote there holds nothing.
    return [];
  }
}

function isSameKey(a: NotReadyKey, b: NotReadyKey): boolean {
  return a.userAgent === b.userAgent && a.key === b.key;
}

function conditionOf(keys: readonly NotReadyKey[], now: Instant): PodCondition {
  const sorted = keys.toSorted((a, b) => compareStrings(a.userAgent, b.userAgent) || compareStrings(a.key, b.key));
  return {
    type: kruisePodReadyCondition,
    status: keys.length === 0 ? 'True' : 'False',
    lastTransitionTime: formatTime(now),
    message: JSON.stringify(sorted.map(({ userAgent, key }) => ({ userAgent, key }))),
  };
}

/** The condition, and with it the Pod's own Ready where that is True and cannot stay so. */
function withNotReady(pod: Pod, condition: PodCondition, now: Instant): readonly PodCondition[] {
  const conditions = pod.status?.conditions;
  const isReady = isConditionTrue(conditions, 'Ready');
  if (condition.status !== 'False' || !isReady || !isConditionTrue(conditions, 'ContainersReady')) return [condition];
  const statuses = new Map(conditions?.map(({ type, status }) => [type, status]));
  statuses.set(condition.type, condition.status);
  const faults = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => gateFaults(conditionType, statuses));
  return [
    condition,
    {
      type: 'Ready',
      status: 'False',
      reason: 'ReadinessGatesNotReady',
      message: faults.join(', '),
      lastTransitionTime: formatTime(now),
    },
  ];
}

function gateFaults(type: string, statuses: ReadonlyMap<string, string>): readonly string[] {
  const status = statuses.get(type);
  if (status === 'True') return [];
  if (status === undefined) return [`corresponding condition of pod readiness gate "${type}" does not exist.`];
  return [`the status of pod readiness gate "${type}" is not "True", but ${status}`];
}

/** Writes conditions of a Pod and leaves its others alone; at the version it was seen at, if that matters. */
export function writeConditions(
  pod: Pod,
  conditions: readonly PodCondition[],
  { atVersion = false }: { readonly atVersion?: boolean } = {},
): PatchAction {
  const { resourceVersion } = pod.metadata;
  return {
    type: 'patch',
    object: pod,
    patch: {
      ...(atVersion ? { metadata: { resourceVersion } } : {}),
      // Conditions merge by type; what one had and the new one lacks has to be taken away by name.
      status: { conditions: conditions.map((each) => ({ reason: null, message: null, ...each })) },
    },
    patchType: 'strategic',
    subresource: 'status',
  };
}
