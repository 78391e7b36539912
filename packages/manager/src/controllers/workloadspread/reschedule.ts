/** Groups whose Pods find no node: they get no more of them for a while, and give up those they have (§9.6). */
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpread } from '@kruise/api/kruise/workloadspread';
import { announced, isBeingDeleted, type RemoveAction, remove } from '@kruise/client/actions';
import { keyOf } from '@kruise/client/object-key';
import { findCondition, isConditionFalse, withCondition } from '@kruise/machinery/conditions';
import { type Instant, parseTime } from '@kruise/values/time';
import { schedulable } from '../../workloadspread/seats.ts';
import type { SubsetStatus, Tally } from '../../workloadspread/tally.ts';
import type { Groups } from './groups.ts';

/** So long a group is held to have no room. */
const holdMs = 300_000;

/** After how many seconds a Pod without a node is taken elsewhere; undefined if it never is. */
export function patienceSeconds({ spec: { scheduleStrategy } }: WorkloadSpread): number | undefined {
  const { type, adaptive } = scheduleStrategy ?? {};
  return (type === 'Adaptive' && adaptive?.rescheduleCriticalSeconds) || undefined;
}

/** Whether the scheduler has found no node for a Pod. */
export function isUnschedulable(pod: Pod): boolean {
  const { spec, status } = pod;
  if (isBeingDeleted(pod) || status?.phase !== 'Pending' || spec?.nodeName) return false;
  const scheduled = findCondition(status.conditions, 'PodScheduled');
  return scheduled?.status === 'False' && scheduled.reason === 'Unschedulable';
}

/** Since when a Pod has waited for a node for too long: a time to come where it has not yet. */
function deadlineOf({ metadata }: Pod, patience: number): Instant {
  return parseTime(metadata.creationTimestamp ?? '') + patience * 1000;
}

/**
 * Deletes Pods that have waited for a node for too long, so that they are made anew in another group. Only once the
 * status says that theirs has no room: before, the next Pod would come to the same group.
 */
export function takeAway(
  spread: WorkloadSpread,
  versions: ReadonlyMap<string, Groups>,
  now: Instant,
): readonly RemoveAction[] {
  const patience = patienceSeconds(spread);
  if (patience === undefined) return [];
  const names = spread.spec.subsets.slice(0, -1).map(({ name }) => name);
  return [...versions].flatMap(([version, { inSubset }]) =>
    names
      .filter((name) => isClosed(spread, version, name))
      .flatMap((name) => {
        const stuck = (inSubset.get(name) ?? []).filter(
          (pod) => isUnschedulable(pod) && deadlineOf(pod, patience) < now,
        );
        return stuck.map((pod) => removeStuck(spread, name, pod));
      }),
  );
}

/** Whether webhooks know that a group gets no Pods. */
function isClosed({ status }: WorkloadSpread, version: string, subset: string): boolean {
  const told = status?.versionedSubsetStatuses?.[version]?.find(({ name }) => name === subset);
  return isConditionFalse(told?.conditions, schedulable);
}

function removeStuck(spread: WorkloadSpread, subset: string, pod: Pod): RemoveAction {
  const message = `Failed to delete unschedulabe Pod ${keyOf(pod)} in Subset ${subset} of WorkloadSpread ${keyOf(spread)}`;
  return announced(remove(pod), { about: spread, failed: { reason: 'DeletePodFailed', message } });
}

/** A group, and what was said of it before. */
type Scheduled = {
  readonly name: string;
  readonly pods: readonly Pod[];
  readonly isLast: boolean;
  readonly old: SubsetStatus | undefined;
};

type Conditions = NonNullable<SubsetStatus['conditions']>;

/** Whether a group is held to have room on its nodes. The last one always is: there is no other after it. */
export function tallyScheduling(
  spread: WorkloadSpread,
  { name, pods, isLast, old }: Scheduled,
  patience: number,
  now: Instant,
): Tally<Conditions> {
  const former = findCondition(old?.conditions, schedulable);
  const stated = (isRoomy: boolean): Conditions => {
    const reason = isRoomy ? 'Sufficient' : 'PodUnschedulable';
    const condition = { type: schedulable, status: isRoomy ? 'True' : 'False', reason, message: '' } as const;
    return withCondition(former ? [former] : [], condition, now);
  };
  if (isLast) return { value: stated(true), told: [], deadlines: [] };
  const waiting = pods.filter(isUnschedulable).map((pod) => deadlineOf(pod, patience));
  const deadlines = waiting.filter((deadline) => deadline >= now);
  if (deadlines.length < waiting.length) return { value: stated(false), told: [], deadlines };
  if (former?.status !== 'False') return { value: stated(true), told: [], deadlines };
  const heldUntil = parseTime(former.lastTransitionTime) + holdMs;
  if (heldUntil >= now) return { value: [former], told: [], deadlines: [...deadlines, heldUntil] };
  const { namespace, name: spreadName } = spread.metadata;
  const message = `Subset ${name} of WorkloadSpread ${namespace}/${spreadName} is recovered from unschedulable to schedulable`;
  const told = [{ about: spread, type: 'Normal' as const, reason: 'RecoverSchedulable', message }];
  return { value: stated(true), told, deadlines };
}
