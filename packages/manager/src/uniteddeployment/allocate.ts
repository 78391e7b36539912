/**
 * Allocation of replicas to subsets. Subsets have fixed replicas, or a minimum and a maximum that are filled in order.
 * In the latter case unschedulable Pods can move to other subsets.
 */
import type { Subset, UnitedDeploymentSpec } from '@kruise/api/kruise/uniteddeployment';
import { compareStrings } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import { boundsOf, replicasOfShare, unlimited } from './shares.ts';
import { isAdaptive, isReserving } from './strategy.ts';

/** Observed state of a subset's workload. */
export type Occupancy = {
  /** Replicas in the spec of the workload. */
  readonly replicas: number;
  readonly readyReplicas: number;
  /** Set where Pods of the subset are unschedulable. */
  readonly isUnschedulable: boolean;
  /** Set where the last status reported the subset as unschedulable. */
  readonly wasUnschedulable: boolean;
  /** Pods that are unschedulable, or scheduled too recently to count, while replacement Pods run in other subsets. */
  readonly reservedPods: number;
  /** Pods that do not exist yet in a subset that was unschedulable, and that will be reserved like the others. */
  readonly missingPods: number;
};

/** Occupancies by subset name, for subsets with a workload. */
export type Occupancies = ReadonlyMap<string, Occupancy>;

/** Replicas of each subset, or the reason why they cannot be allocated. */
export type Allocation = { readonly replicas: ReadonlyMap<string, number> } | { readonly fault: string };

export function allocate({ replicas, topology }: UnitedDeploymentSpec, occupancies: Occupancies): Allocation {
  const { subsets = [], scheduleStrategy } = topology ?? {};
  const total = replicas ?? 0;
  if (isReserving(scheduleStrategy)) {
    return withinBounds(subsets, total, (bounded) => fillReserving(bounded, total, occupancies));
  }
  if (isAdaptive(scheduleStrategy)) {
    const adapt = (bounded: readonly Bounded[]) => bounded.map((each) => adapted(each, occupancies.get(each.name)));
    return withinBounds(subsets, total, (bounded) => fill(adapt(bounded), total));
  }
  const isElastic = subsets.some((subset) => subset.minReplicas !== undefined || subset.maxReplicas !== undefined);
  return isElastic
    ? withinBounds(subsets, total, (bounded) => fill(bounded, total))
    : divide(subsets, replicas, occupancies);
}

/**
 * Allocates fixed replicas first, and equal parts of the rest to the other subsets. The largest subsets get the
 * remainder.
 */
function divide(subsets: readonly Subset[], total: number | undefined, occupancies: Occupancies): Allocation {
  const shares = new Map(subsets.flatMap((subset) => shareOf(subset, total)));
  const sum = [...shares.values()].reduce((some, each) => some + each, 0);
  const isComplete = shares.size === subsets.length;
  if (total === undefined) {
    return isComplete
      ? { replicas: shares }
      : { fault: 'all subsets must be specified when UnitedDeployment replica is unspecified' };
  }
  if (sum > total || (sum < total && isComplete)) {
    const relation = sum > total ? 'greater' : 'less';
    return { fault: `specified subsets' replica (${sum}) is ${relation} than UnitedDeployment replica (${total})` };
  }
  const sizeOf = (name: string) => occupancies.get(name)?.replicas ?? 0;
  const open = subsets
    .map(({ name }) => name)
    .filter((name) => !shares.has(name))
    .sort((a, b) => sizeOf(b) - sizeOf(a) || compareStrings(b, a));
  const left = total - sum;
  const parts = open.map((name, index) => [name, Math.floor((left + open.length - 1 - index) / open.length)] as const);
  return { replicas: new Map([...shares, ...parts]) };
}

/** Returns the fixed replicas of a subset, if they are valid. */
function shareOf({ name, replicas }: Subset, total: number | undefined): readonly (readonly [string, number])[] {
  if (replicas === undefined) return [];
  try {
    return [[name, replicasOfShare(replicas, total)]];
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return [];
  }
}

type Bounded = { readonly name: string; readonly min: number; readonly max: number };

function withinBounds(
  subsets: readonly Subset[],
  total: number,
  fillAll: (bounded: readonly Bounded[]) => ReadonlyMap<string, number>,
): Allocation {
  const bounded = subsets.map((subset) => ({ name: subset.name, ...boundsOf(subset, total) }));
  const index = bounded.findIndex(({ min, max }) => min > max);
  if (index < 0) return { replicas: fillAll(bounded) };
  const { min, max } = bounded[index]!;
  return { fault: `subset[${index}].maxReplicas(${max}) must be more than or equal to minReplicas(${min})` };
}

/** Allocates the minimum of every subset first, then up to the maximum, in order, while replicas are left. */
function fill(bounded: readonly Bounded[], total: number): ReadonlyMap<string, number> {
  let left = total;
  const take = (wanted: number) => {
    const taken = Math.max(0, Math.min(wanted, left));
    left -= taken;
    return taken;
  };
  const min = bounded.map((each) => take(each.min));
  return new Map(bounded.map((each, index) => [each.name, min[index]! + take(each.max - each.min)]));
}

/**
 * Limits an unschedulable subset to its running Pods. A schedulable subset keeps its running Pods, even if other
 * subsets have capacity again.
 */
function adapted(bounded: Bounded, occupancy: Occupancy | undefined): Bounded {
  if (!occupancy) return bounded;
  const { readyReplicas: running, isUnschedulable } = occupancy;
  const { min, max } = bounded;
  if (isUnschedulable) return { ...bounded, min: Math.max(running, min), max: Math.min(running, max) };
  return running > min ? { ...bounded, min: Math.min(running, max) } : bounded;
}

/**
 * Allocates with reservation. Reserved Pods stay in their subset and do not count: as many replacement Pods are created
 * in later subsets. A subset that was unschedulable counts only with its proven Pods.
 */
function fillReserving(
  bounded: readonly Bounded[],
  total: number,
  occupancies: Occupancies,
): ReadonlyMap<string, number> {
  let left = total;
  const allocated = new Map(bounded.map(({ name }) => [name, 0]));
  const room = new Map(bounded.map(({ name }) => [name, roomOf(occupancies.get(name))]));
  const give = (name: string, wanted: number) => {
    const before = allocated.get(name)!;
    const added = Math.max(0, Math.min(wanted - before, left));
    const roomLeft = room.get(name)! - added;
    allocated.set(name, before + added);
    room.set(name, roomLeft);
    left -= roomLeft < 0 ? Math.max(0, added + roomLeft) : added;
  };
  for (const { name, min } of bounded) {
    give(name, min);
    if (left <= 0) return allocated;
  }
  for (const { name, max } of bounded) {
    const occupancy = occupancies.get(name);
    give(name, occupancy?.isUnschedulable ? occupancy.replicas : max);
    if (left <= 0) return allocated;
  }
  return allocated;
}

/** Returns the number of Pods that are expected to be scheduled. */
function roomOf(occupancy: Occupancy | undefined): number {
  if (!occupancy || !(occupancy.isUnschedulable || occupancy.wasUnschedulable)) return unlimited;
  return occupancy.replicas - occupancy.reservedPods - occupancy.missingPods;
}
