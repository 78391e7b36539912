/** Counts the Pods of every group, says which can be spared, and takes away those that find no node (§9). */
import type { Node } from '@kruise/api/core/node';
import type { WorkloadSpread, WorkloadSpreadStatus } from '@kruise/api/kruise/workloadspread';
import type { Decision } from '@kruise/client/controller';
import type { Instant } from '@kruise/values/time';
import { earliestRequeue } from '../../earliest-requeue.ts';
import type { Target } from '../../workloadspread/target.ts';
import { deletionCosts } from './deletion-cost.ts';
import { groupPods } from './groups.ts';
import { mark } from './marks.ts';
import { takeAway } from './reschedule.ts';
import { tallyStatus } from './status.ts';

export type Observed = {
  readonly spread: WorkloadSpread;
  /** Undefined where there is no workload. */
  readonly target: Target | undefined;
  readonly nodeNamed: (name: string) => Node | undefined;
};

/** Who makes thousands of Pods makes many a second; to look at all of them each time would take more than it is worth. */
const podsPerMs = 10;

export function decide({ spread, target, nodeNamed }: Observed, now: Instant): Decision<WorkloadSpreadStatus> {
  const { pods = [], replicas = 0, latestVersion } = target ?? {};
  const { versions, adopted } = groupPods(spread, pods, { replicas, nodeNamed });
  const costs = deletionCosts(spread, versions, { replicas, latestVersion });
  const marks = pods.flatMap((pod) => mark(spread, pod, adopted.get(pod), costs.get(pod)));
  const { value: status, told, deadlines } = tallyStatus(spread, versions, replicas, now);
  // A group that has room again has it for every version.
  const news = new Map(told.map((event) => [event.message, event]));
  return {
    actions: [...marks, ...takeAway(spread, versions, now)],
    status,
    events: [...news.values()],
    // What is due at a moment is overdue after it.
    ...earliestRequeue(...deadlines.map((deadline) => (deadline - now + 1) / 1000)),
    minIntervalMs: Math.floor(pods.length / podsPerMs),
  };
}
