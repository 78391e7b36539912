/**
 * How replicas are divided among domains (uniteddeployment.md §9). Domains have fixed shares, or a least and a most that
 * are filled in order; in the latter case Pods that find no node can be given to other domains.
 */
import type { Subset, UnitedDeploymentSpec } from '@kruise/api/kruise/uniteddeployment';
import { compareStrings } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import { boundsOf, replicasOfShare, unlimited } from './shares.ts';
import { isAdaptive, isReserving } from './strategy.ts';

/** What is known of the workload of a domain. */
export type Occupancy = {
  /** As its spec says. */
  readonly replicas: number;
  readonly readyReplicas: number;
  /** Whether Pods of it find no node. */
  readonly isUnschedulable: boolean;
  /** Whether it was told so the last time. */
  readonly wasUnschedulable: boolean;
  /** Pods that wait for a node, or to prove that they have one, while stand-ins run elsewhere. */
  readonly reservedPods: number;
  /** Pods that are yet to be made in a domain that was full, and will have to wait likewise. */
  readonly missingPods: number;
};

/** By the name of a domain; only domains that have a workload. */
export type Occupancies = ReadonlyMap<string, Occupancy>;

/** How many Pods each domain is to have; or what keeps them from being divided. */
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

/** Domains that say so get their share, the others equal parts of what is left; of a remainder, the largest get more. */
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

/** The share of a domain, if it has one that means something. */
function shareOf({ name, replicas }: Subset, total: number | undefined): readonly (readonly [string, number])[] {
  if (replicas === undefined) return [];
  try {
    return [[name, replicasOfShare(replicas, total)]];
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return [];
  }
}

type Bounded = { readonly name: string; readonly least: number; readonly most: number };

function withinBounds(
  subsets: readonly Subset[],
  total: number,
  fillAll: (bounded: readonly Bounded[]) => ReadonlyMap<string, number>,
): Allocation {
  const bounded = subsets.map((subset) => ({ name: subset.name, ...boundsOf(subset, total) }));
  const index = bounded.findIndex(({ least, most }) => least > most);
  if (index < 0) return { replicas: fillAll(bounded) };
  const { least, most } = bounded[index]!;
  return { fault: `subset[${index}].maxReplicas(${most}) must be more than or equal to minReplicas(${least})` };
}

/** First everyone's least, then everyone's most, in order, as long as there is something left. */
function fill(bounded: readonly Bounded[], total: number): ReadonlyMap<string, number> {
  let left = total;
  const take = (wanted: number) => {
    const taken = Math.max(0, Math.min(wanted, left));
    left -= taken;
    return taken;
  };
  const least = bounded.map((each) => take(each.least));
  return new Map(bounded.map((each, index) => [each.name, least[index]! + take(each.most - each.least)]));
}

/**
 * A full domain is held to the Pods that run in it. Of one that has room no Pod that runs is taken away just because
 * the others have room again.
 */
function adapted(bounded: Bounded, occupancy: Occupancy | undefined): Bounded {
  if (!occupancy) return bounded;
  const { readyReplicas: running, isUnschedulable } = occupancy;
  const { least, most } = bounded;
  if (isUnschedulable) return { ...bounded, least: Math.max(running, least), most: Math.min(running, most) };
  return running > least ? { ...bounded, least: Math.min(running, most) } : bounded;
}

/**
 * Pods that wait stay where they are, and do not count: as many stand-ins are made in domains further on. A domain that
 * was full gets no more trust than for the Pods that have proved themselves.
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
  for (const { name, least } of bounded) {
    give(name, least);
    if (left <= 0) return allocated;
  }
  for (const { name, most } of bounded) {
    const occupancy = occupancies.get(name);
    give(name, occupancy?.isUnschedulable ? occupancy.replicas : most);
    if (left <= 0) return allocated;
  }
  return allocated;
}

/** How many Pods are expected to find a node. */
function roomOf(occupancy: Occupancy | undefined): number {
  if (!occupancy || !(occupancy.isUnschedulable || occupancy.wasUnschedulable)) return unlimited;
  return occupancy.replicas - occupancy.reservedPods - occupancy.missingPods;
}
