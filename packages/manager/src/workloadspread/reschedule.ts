/** Rescheduling of unschedulable Pods: their subset gets no more Pods for a while, and its pending Pods are deleted. */
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpread } from '@kruise/api/kruise/workloadspread';
import { isBeingDeleted, type RemoveAction, remove, withOutcomeEvents } from '@kruise/client/actions';
import { keyOf } from '@kruise/client/object-key';
import { findCondition, isConditionFalse, withCondition } from '@kruise/machinery/conditions';
import { type Instant, parseTime } from '@kruise/values/time';
import type { Groups } from './groups.ts';
import { schedulable } from './subset-allocation.ts';
import type { SubsetStatus, Tally } from './tally.ts';

/** Time that a subset counts as unschedulable. */
const unschedulableMs = 300_000;

/** Returns the seconds after which an unschedulable Pod is rescheduled; undefined if rescheduling is disabled. */
export function rescheduleSeconds({ spec: { scheduleStrategy } }: WorkloadSpread): number | undefined {
  const { type, adaptive } = scheduleStrategy ?? {};
  return (type === 'Adaptive' && adaptive?.rescheduleCriticalSeconds) || undefined;
}

/** Reports whether the scheduler found no node for a Pod. */
export function isUnschedulable(pod: Pod): boolean {
  const { spec, status } = pod;
  if (isBeingDeleted(pod) || status?.phase !== 'Pending' || spec?.nodeName) return false;
  const scheduled = findCondition(status.conditions, 'PodScheduled');
  return scheduled?.status === 'False' && scheduled.reason === 'Unschedulable';
}

/** Returns the time when a pending Pod exceeds its timeout. */
function deadlineOf({ metadata }: Pod, patience: number): Instant {
  return parseTime(metadata.creationTimestamp ?? '') + patience * 1000;
}

/**
 * Deletes Pods that have been unschedulable for too long, so that they are recreated in another subset. The status must
 * first report their subset as unschedulable: otherwise the next Pod would be placed in the same subset.
 */
export function deleteUnschedulable(
  spread: WorkloadSpread,
  versions: ReadonlyMap<string, Groups>,
  now: Instant,
): readonly RemoveAction[] {
  const patience = rescheduleSeconds(spread);
  if (patience === undefined) return [];
  const names = spread.spec.subsets.slice(0, -1).map(({ name }) => name);
  return [...versions].flatMap(([version, { inSubset }]) =>
    names
      .filter((name) => isReportedUnschedulable(spread, version, name))
      .flatMap((name) => {
        const stuck = (inSubset.get(name) ?? []).filter(
          (pod) => isUnschedulable(pod) && deadlineOf(pod, patience) < now,
        );
        return stuck.map((pod) => removeStuck(spread, name, pod));
      }),
  );
}

/** Reports whether the status shows webhooks that a subset gets no Pods. */
function isReportedUnschedulable({ status }: WorkloadSpread, version: string, subset: string): boolean {
  const reported = status?.versionedSubsetStatuses?.[version]?.find(({ name }) => name === subset);
  return isConditionFalse(reported?.conditions, schedulable);
}

function removeStuck(spread: WorkloadSpread, subset: string, pod: Pod): RemoveAction {
  const message = `Failed to delete unschedulabe Pod ${keyOf(pod)} in Subset ${subset} of WorkloadSpread ${keyOf(spread)}`;
  return withOutcomeEvents(remove(pod), { about: spread, failed: { reason: 'DeletePodFailed', message } });
}

/** A subset, and its previous status. */
type Scheduled = {
  readonly name: string;
  readonly pods: readonly Pod[];
  readonly isLast: boolean;
  readonly old: SubsetStatus | undefined;
};

type Conditions = NonNullable<SubsetStatus['conditions']>;

/**
 * Sets the condition that reports a subset as schedulable. The last subset always is: there is no other subset after
 * it.
 */
export function tallyScheduling(
  spread: WorkloadSpread,
  { name, pods, isLast, old }: Scheduled,
  patience: number,
  now: Instant,
): Tally<Conditions> {
  const former = findCondition(old?.conditions, schedulable);
  const conditionsFor = (isSchedulable: boolean): Conditions => {
    const reason = isSchedulable ? 'Sufficient' : 'PodUnschedulable';
    const condition = { type: schedulable, status: isSchedulable ? 'True' : 'False', reason, message: '' } as const;
    return withCondition(former ? [former] : [], condition, now);
  };
  if (isLast) return { value: conditionsFor(true), events: [], deadlines: [] };
  const waiting = pods.filter(isUnschedulable).map((pod) => deadlineOf(pod, patience));
  const deadlines = waiting.filter((deadline) => deadline >= now);
  if (deadlines.length < waiting.length) return { value: conditionsFor(false), events: [], deadlines };
  if (former?.status !== 'False') return { value: conditionsFor(true), events: [], deadlines };
  const heldUntil = parseTime(former.lastTransitionTime) + unschedulableMs;
  if (heldUntil >= now) return { value: [former], events: [], deadlines: [...deadlines, heldUntil] };
  const { namespace, name: spreadName } = spread.metadata;
  const message = `Subset ${name} of WorkloadSpread ${namespace}/${spreadName} is recovered from unschedulable to schedulable`;
  const events = [{ about: spread, type: 'Normal' as const, reason: 'RecoverSchedulable', message }];
  return { value: conditionsFor(true), events, deadlines };
}
