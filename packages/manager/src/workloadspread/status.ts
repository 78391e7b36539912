/** WorkloadSpread status. */
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpread, WorkloadSpreadStatus } from '@kruise/api/kruise/workloadspread';
import { ParseError } from '@kruise/values/parse-error';
import type { Instant } from '@kruise/values/time';
import type { Groups } from './groups.ts';
import { rescheduleSeconds, tallyScheduling } from './reschedule.ts';
import { countSubset } from './subset-status.ts';
import { mergeFollowUps, type SubsetStatus, type Tally } from './tally.ts';

/** Returns the Pods of a subset. */
type PodsIn = (subset: string) => readonly Pod[];

/**
 * Counts all Pods together, and the Pods of each version. A version without Pods is kept while creations or deletions
 * are pending.
 */
export function tallyStatus(
  spread: WorkloadSpread,
  versions: ReadonlyMap<string, Groups>,
  replicas: number,
  now: Instant,
): Tally<WorkloadSpreadStatus> {
  const { status = {}, metadata } = spread;
  const { subsetStatuses, versionedSubsetStatuses: former = {} } = status;
  const tally = (podsIn: PodsIn, old: readonly SubsetStatus[] | undefined) =>
    tallySubsets(spread, podsIn, old ?? [], replicas, now);
  const whole = tally(
    (name) => [...versions.values()].flatMap(({ inSubset }) => inSubset.get(name) ?? []),
    subsetStatuses,
  );
  const present = [...versions].map(([version, { inSubset }]) => ({
    version,
    ...tally((name) => inSubset.get(name) ?? [], former[version]),
  }));
  const past = Object.keys(former)
    .filter((version) => !versions.has(version))
    .map((version) => ({ version, ...tally(() => [], former[version]) }));
  const kept = [...present, ...past.filter(({ value }) => value?.some(isAwaited))];
  const lists = kept.flatMap(({ version, value }) => (value ? [[version, value] as const] : []));
  return {
    value: {
      observedGeneration: metadata.generation ?? 0,
      ...(whole.value ? { subsetStatuses: whole.value } : {}),
      ...(lists.length > 0 ? { versionedSubsetStatuses: Object.fromEntries(lists) } : {}),
    },
    ...mergeFollowUps(whole, ...present, ...past),
  };
}

function isAwaited({ creatingPods, deletingPods }: SubsetStatus): boolean {
  return creatingPods !== undefined || deletingPods !== undefined;
}

/** Counts the Pods of every subset, in the order of the spec; undefined where a subset is invalid. */
function tallySubsets(
  spread: WorkloadSpread,
  podsIn: PodsIn,
  old: readonly SubsetStatus[],
  replicas: number,
  now: Instant,
): Tally<readonly SubsetStatus[] | undefined> {
  const { subsets } = spread.spec;
  const patience = rescheduleSeconds(spread);
  try {
    const tallies = subsets.map((subset): Tally<SubsetStatus> => {
      const { name } = subset;
      const [pods, former] = [podsIn(name), old.find((each) => each.name === name)];
      const counted = countSubset(spread, subset, pods, { old: former, replicas, now });
      if (patience === undefined) return counted;
      const isLast = subset === subsets.at(-1);
      const scheduling = tallyScheduling(spread, { name, pods, isLast, old: former }, patience, now);
      return { value: { ...counted.value, conditions: scheduling.value }, ...mergeFollowUps(counted, scheduling) };
    });
    return { value: tallies.map(({ value }) => value), ...mergeFollowUps(...tallies) };
  } catch (error) {
    // A maxReplicas text that is no percentage has no meaning.
    if (error instanceof ParseError) return { value: undefined, ...mergeFollowUps() };
    throw error;
  }
}
