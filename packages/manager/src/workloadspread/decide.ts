/** WorkloadSpread reconciler: counts the Pods of every subset, sets deletion costs, and deletes unschedulable Pods. */
import type { Node } from '@kruise/api/core/node';
import type { WorkloadSpread, WorkloadSpreadStatus } from '@kruise/api/kruise/workloadspread';
import { parallel } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { Instant } from '@kruise/values/time';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { type ReconcileInterval, reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import { deletionCosts } from './deletion-cost.ts';
import { groupPods } from './groups.ts';
import { mark } from './marks.ts';
import { deleteUnschedulable } from './reschedule.ts';
import { tallyStatus } from './status.ts';
import type { Target } from './target.ts';

export type Observed = {
  readonly spread: WorkloadSpread;
  /** Undefined where the workload does not exist. */
  readonly target: Target | undefined;
  readonly findNode: (name: string) => Node | undefined;
};

/** A workload that creates thousands of Pods creates many a second, and a reconcile for each Pod would cost too much. */
const interval: ReconcileInterval = { from: 0, objectsPerMs: 10 };

export function decide({ spread, target, findNode }: Observed, now: Instant): Decision<WorkloadSpreadStatus> {
  const { pods = [], replicas = 0, latestVersion } = target ?? {};
  const { versions, adopted } = groupPods(spread, pods, { replicas, findNode });
  const costs = deletionCosts(spread, versions, { replicas, latestVersion });
  const marks = pods.flatMap((pod) => mark(spread, pod, adopted.get(pod), costs.get(pod)));
  const { value: status, events, deadlines } = tallyStatus(spread, versions, replicas, now);
  // A subset that recovers does so for every version; the event is recorded once.
  const news = new Map(events.map((event) => [event.message, event]));
  return {
    actions: [...parallel(marks), ...parallel(deleteUnschedulable(spread, versions, now))],
    status,
    events: [...news.values()],
    // A deadline is exceeded only after its time.
    ...earliestRequeue(...deadlines.map((deadline) => (deadline - now + 1) / 1000)),
    minIntervalMs: reconcileIntervalFor(pods.length, interval),
  };
}
