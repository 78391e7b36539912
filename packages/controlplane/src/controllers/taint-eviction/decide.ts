import type { Taint } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { Toleration } from '@kruise/api/core/toleration';
import { type Action, isBeingDeleted, type PatchAction, record, remove } from '@kruise/client/actions';
import { keyOf } from '@kruise/client/object-key';
import { findCondition, withCondition } from '@kruise/machinery/conditions';
import { tolerates } from '@kruise/machinery/tolerations';
import type { Instant } from '@kruise/values/time';

/** A Pod, the taints of its node, and the eviction time if it was already set. */
export type Observed = {
  readonly pod: Pod;
  readonly taints: readonly Taint[];
  readonly evictAt: Instant | undefined;
};

/** Eviction time and the actions of now. */
export type Plan = { readonly evictAt: Instant | undefined; readonly actions: readonly Action[] };

/**
 * Sets the eviction time once: a second taint neither prolongs nor shortens it. A Pod that does not tolerate a taint is
 * evicted at once.
 */
export function decide({ pod, taints, evictAt }: Observed, now: Instant): Plan {
  if (isBeingDeleted(pod)) return { evictAt: undefined, actions: [] };
  const seconds = tolerationSeconds(taints, pod.spec?.tolerations ?? []);
  if (seconds === undefined)
    return { evictAt: undefined, actions: evictAt === undefined ? [] : [evictionEvent(pod, 'Cancelling deletion of')] };
  const due = seconds === 0 ? now : (evictAt ?? now + seconds * 1000);
  return { evictAt: due, actions: due <= now ? evict(pod, now) : [] };
}

/** Returns how long a Pod tolerates the taints: 0 if it does not tolerate one of them, undefined for no limit. */
export function tolerationSeconds(taints: readonly Taint[], tolerations: readonly Toleration[]): number | undefined {
  let shortest: number | undefined;
  for (const taint of taints) {
    const toleration = tolerations.find((each) => tolerates(each, taint));
    if (!toleration) return 0;
    if (toleration.tolerationSeconds == null) continue;
    const seconds = Number(toleration.tolerationSeconds);
    shortest = Math.max(0, Math.min(shortest ?? seconds, seconds));
  }
  return shortest;
}

function evict(pod: Pod, now: Instant): readonly Action[] {
  return [evictionEvent(pod, 'Marking for deletion'), ...markDisrupted(pod, now), remove(pod)];
}

function markDisrupted(pod: Pod, now: Instant): readonly PatchAction[] {
  const present = pod.status?.conditions;
  const conditions = withCondition(present, disrupted, now);
  if (conditions === present) return [];
  const condition = findCondition(conditions, disrupted.type);
  const patch = { status: { conditions: [condition] } };
  return [{ type: 'patch', object: pod, patch, patchType: 'strategic', subresource: 'status' }];
}

const disrupted = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
} as const;

function evictionEvent(about: Pod, what: string): Action {
  return record({ about, type: 'Normal', reason: 'TaintManagerEviction', message: `${what} Pod ${keyOf(about)}` });
}
