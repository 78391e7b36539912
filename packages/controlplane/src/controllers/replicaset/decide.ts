import type { ReplicaSet, ReplicaSetStatus } from '@kruise/api/apps/replicaset';
import type { Pod } from '@kruise/api/core/pod';
import { parallel, type Step } from '@kruise/client/actions';
import { claimActions } from '@kruise/client/adoption';
import type { Decision } from '@kruise/client/controller';
import { claimsOf } from '@kruise/machinery/claims';
import { selectorOf } from '@kruise/machinery/label-selector';
import { rankByNode, rankForDeletion } from '@kruise/machinery/pod-ranking';
import { podFromTemplate } from '@kruise/machinery/pod-template';
import { isPodActive, secondsUntilAvailable } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { createPod, deletePod } from '@kruise/workload-kit/pod-control';
import { reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import { statusOf } from './status.ts';

export type Observed = {
  /** A ReplicaSet, or a ReplicationController that was converted to one. */
  readonly set: ReplicaSet;
  /** Pods that the ReplicaSet controls or may adopt. */
  readonly candidates: readonly Pod[];
  /** Active Pods of the same owner, its own included; their number per node ranks the Pods for scale-in. */
  readonly siblings: readonly Pod[];
};

/** Maximum number of Pods created or deleted in one reconcile; the rest follows in the next one, behind other keys. */
const burst = 500;

/** ReplicaSet reconciler: maintains the desired number of active Pods. */
export function decide({ set, candidates, siblings }: Observed, now: Instant): Decision<ReplicaSetStatus | undefined> {
  const selector = selectorOf(set.spec?.selector);
  const claims = claimsOf(set, candidates.filter(isPodActive), ({ metadata }) => selector.matches(metadata.labels));
  const pods = claims.claimed;
  const claiming = claimActions(set, claims);
  const scaling = set.metadata.deletionTimestamp == null ? scale(set, pods, siblings, now) : [];
  return {
    actions: [...claiming, ...scaling],
    // With an invalid selector the Pods are unknown, so no status is reported.
    status: ({ failures }) =>
      failures.some(({ action }) => action.type === 'patch') ? set.status : statusOf(set, pods, failures, now),
    ...earliestRequeue(secondsUntilAvailable(pods, set.spec?.minReadySeconds ?? 0, now)),
    // Creations and deletions already wait for their expectations.
    minIntervalMs: scaling.length > 0 ? 0 : reconcileIntervalFor(pods.length),
  };
}

function scale(set: ReplicaSet, pods: readonly Pod[], siblings: readonly Pod[], now: Instant): readonly Step[] {
  const surplus = pods.length - (set.spec?.replicas ?? 1);
  if (surplus > 0) {
    const ranked = surplus < pods.length ? rankForDeletion(pods, { now, rankOf: rankByNode(siblings) }) : pods;
    return parallel(ranked.slice(0, Math.min(surplus, burst)).map((pod) => deletePod(set, pod)));
  }
  const pod = podFromTemplate(set, set.spec?.template);
  return parallel(Array.from({ length: Math.min(-surplus, burst) }, () => createPod(set, pod)));
}
