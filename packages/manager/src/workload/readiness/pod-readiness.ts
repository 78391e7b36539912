/**
 * The two readiness gates by which Kruise makes a Pod not ready: `InPlaceUpdateReady`, which only the workload's
 * controller writes once it is initialized, and `KruisePodReady`, which several controllers may hold at False, each
 * under its own key.
 *
 * Only False is written together with the Pod's own Ready condition, so that traffic stops before the kubelet syncs the
 * Pod. Ready is never set to True here: only the kubelet knows all other conditions.
 */
import type { Pod, PodCondition } from '@kruise/api/core/pod';
import { inPlaceUpdateReadyCondition, kruisePodReadyCondition } from '@kruise/api/kruise/well-known';
import type { PatchAction } from '@kruise/client/actions';
import { findCondition, isConditionTrue } from '@kruise/machinery/conditions';
import { compareStrings } from '@kruise/values/go-syntax';
import { formatTime, type Instant } from '@kruise/values/time';

/** The controller that holds a Pod not ready, and its reason. */
export type NotReadyKey = { readonly userAgent: string; readonly key: string };

/** Reports whether a Pod's readiness depends on a condition. */
export function hasReadinessGate({ spec }: Pod, conditionType: string): boolean {
  return spec?.readinessGates?.some((gate) => gate.conditionType === conditionType) ?? false;
}

/** Drains a Pod for an in-place update, whatever the cache shows of its conditions. */
export function beginInPlaceUpdate(pod: Pod, now: Instant): PatchAction {
  const condition = {
    type: inPlaceUpdateReadyCondition,
    status: 'False',
    reason: 'StartInPlaceUpdate',
    lastTransitionTime: formatTime(now),
  } as const;
  return writeConditions(pod, withNotReady(pod, condition, now));
}

/** Reports whether the condition of Kruise's readiness gate has not been set yet. */
export function isGateUninitialized(pod: Pod): boolean {
  return (
    hasReadinessGate(pod, kruisePodReadyCondition) && !findCondition(pod.status?.conditions, kruisePodReadyCondition)
  );
}

/** Reports whether neither readiness gate has a condition yet. */
export function areGatesUninitialized(pod: Pod): boolean {
  const hasCondition = findCondition(pod.status?.conditions, inPlaceUpdateReadyCondition) !== undefined;
  return !hasCondition && isGateUninitialized(pod) && hasReadinessGate(pod, inPlaceUpdateReadyCondition);
}

/**
 * Makes a Pod ready, again or for the first time, and then sets both gates at once; no write if it already is. Fails
 * with a conflict if the Pod has changed, because another update may have started.
 */
export function endInPlaceUpdate(pod: Pod, now: Instant): PatchAction[] {
  const present = findCondition(pod.status?.conditions, inPlaceUpdateReadyCondition);
  if (present?.status === 'True' && !present.reason && !present.message) return [];
  const gates = [inPlaceUpdateReadyCondition, ...(isGateUninitialized(pod) ? [kruisePodReadyCondition] : [])];
  return [openGates(pod, gates, now, { atVersion: true })];
}

/** Sets the conditions of readiness gates to True. */
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

/** Holds a Pod not ready under a key; no write if the key is already set, or if the Pod has no such gate. */
export function holdNotReady(pod: Pod, key: NotReadyKey, now: Instant): PatchAction[] {
  if (!hasReadinessGate(pod, kruisePodReadyCondition)) return [];
  const keys = keysOf(pod);
  const isHeld = keys.some((each) => isSameKey(each, key));
  if (isHeld && !isConditionTrue(pod.status?.conditions, kruisePodReadyCondition)) return [];
  const condition = conditionOf(isHeld ? keys : [...keys, key], now);
  // The message has the keys of all controllers, so the write must fail if one was added concurrently.
  return [writeConditions(pod, withNotReady(pod, condition, now), { atVersion: true })];
}

/** Removes a key. The Pod may become ready once no key is left. */
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
    // A message in another format holds no key.
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

/** Returns the condition, and the Pod's own Ready condition as False where that is True. */
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

/** Writes some conditions of a Pod, with the observed resourceVersion as a precondition if requested. */
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
      // Conditions merge by type. Fields that the new condition lacks must be removed explicitly.
      status: { conditions: conditions.map((each) => ({ reason: null, message: null, ...each })) },
    },
    patchType: 'strategic',
    subresource: 'status',
  };
}
