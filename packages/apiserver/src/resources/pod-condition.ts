import type { Pod, PodCondition } from '@kruise/api/core/pod';
import { isSame } from '@kruise/machinery/json-value';

type ConditionUpdate = Pick<PodCondition, 'type' | 'status'> & Partial<Pick<PodCondition, 'reason' | 'message'>>;

/** Returns the Pod with a condition set; lastTransitionTime is kept unless the status changes. */
export function withCondition(pod: Pod, update: ConditionUpdate, now: string): Pod {
  const conditions = pod.status?.conditions ?? [];
  const index = conditions.findIndex(({ type }) => type === update.type);
  const old = conditions[index];
  const lastTransitionTime = old?.status === update.status ? (old.lastTransitionTime ?? now) : now;
  const condition: PodCondition = { ...update, lastProbeTime: null, lastTransitionTime };
  if (old && isSame({ lastProbeTime: null, ...old }, condition)) return pod;
  const next = old ? conditions.with(index, condition) : [...conditions, condition];
  return { ...pod, status: { ...pod.status, conditions: next } };
}
