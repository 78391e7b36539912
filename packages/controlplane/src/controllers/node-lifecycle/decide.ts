/**
 * Taints and labels of a node, derived from the conditions it reports. `health.ts` determines whether it reports at
 * all.
 */
import type { Node } from '@kruise/api/core/node';
import { type Action, patch, sequence } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isConditionTrue } from '@kruise/machinery/conditions';
import type { Instant } from '@kruise/values/time';
import { outdatedLabels } from '../node-labels.ts';
import { changedTaints, isSameTaint, notReadyKey, patchTaints, type TaintId, unreachableKey } from '../node-taints.ts';

/** NoSchedule taints by condition type and status. */
const taintOfCondition: { readonly [type: string]: { readonly [status: string]: string } } = {
  Ready: { False: notReadyKey, Unknown: unreachableKey },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
};
const unschedulableKey = 'node.kubernetes.io/unschedulable';
const ownKeys = new Set([...Object.values(taintOfCondition).flatMap((keys) => Object.values(keys)), unschedulableKey]);

/** Deprecated labels, and the labels they mirror. */
const copiedLabels = {
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
} as const;

/** NoExecute taints, which evict running Pods. */
export const evictingTaints: readonly TaintId[] = [
  { key: notReadyKey, effect: 'NoExecute' },
  { key: unreachableKey, effect: 'NoExecute' },
];

export function decide(node: Node, now: Instant): Decision<Node['status']> {
  const wanted = conditionTaintsOf(node);
  const stale = (node.spec?.taints ?? []).filter(
    (taint) =>
      taint.effect === 'NoSchedule' && ownKeys.has(taint.key) && !wanted.some((each) => isSameTaint(each, taint)),
  );
  // A node that is ready again must not lose its Pods: their tolerations may expire before the next monitor period.
  const over = isConditionTrue(node.status?.conditions, 'Ready') ? evictingTaints : [];
  const taints = changedTaints(node, { add: wanted, drop: [...stale, ...over] }, now);
  const labels = outdatedLabels(node, copiedLabels);

  const actions: Action[] = [];
  if (taints) actions.push(patchTaints(node, taints));
  if (labels) actions.push(patch(node, { metadata: { labels } }));
  return { actions: sequence(actions) };
}

function conditionTaintsOf({ spec, status }: Node): readonly TaintId[] {
  const keys = (status?.conditions ?? []).map((condition) => taintOfCondition[condition.type]?.[condition.status]);
  if (spec?.unschedulable) keys.push(unschedulableKey);
  return keys.filter((key) => key !== undefined).map((key) => ({ key, effect: 'NoSchedule' }));
}
