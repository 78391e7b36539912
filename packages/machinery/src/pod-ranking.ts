/** Order in which the Pods of a workload are deleted on scale-down. */
import type { Pod } from '@kruise/api/core/pod';
import { compareStrings } from '@kruise/values/go-syntax';
import { type Instant, parseTime } from '@kruise/values/time';
import { isPodReady, readySince } from './pods.ts';

/** Annotation with the cost of deleting a Pod, set by users. */
export const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost';

/** Options of the deletion order. */
export type RankingOptions = {
  /** Compares ages on a logarithmic scale at this time; Pods of the same magnitude are ordered by uid. */
  readonly now?: Instant;
  /** Rank of a Pod: the number of related Pods on its node. A higher rank is deleted first. */
  readonly rankOf?: (pod: Pod) => number;
  /** Predicate of available Pods: among Pods that are equally ready, unavailable ones are deleted first. */
  readonly isAvailable?: (pod: Pod) => boolean;
  /** Set to false to ignore the deletion cost. */
  readonly usesDeletionCost?: boolean;
};

/**
 * Sorts Pods by deletion order: the first one is deleted first.
 *
 * ```ts
 * const victims = rankForDeletion(pods, { now: clock.now() }).slice(0, 2);
 * ```
 */
export function rankForDeletion(pods: readonly Pod[], options: RankingOptions = {}): readonly Pod[] {
  return pods
    .map((pod) => traitsOf(pod, options))
    .sort((a, b) => compare(a, b, options.now))
    .map(({ pod }) => pod);
}

/** Returns a function that counts the active Pods of a workload on the node of a Pod, including the Pod itself. */
export function rankByNode(siblings: Iterable<Pod>): (pod: Pod) => number {
  const counts = new Map<string, number>();
  for (const { spec } of siblings) {
    const node = spec?.nodeName ?? '';
    counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return ({ spec }) => counts.get(spec?.nodeName ?? '') ?? 0;
}

/** Returns the deletion cost of a Pod; 0 if the annotation is missing or invalid. */
export function deletionCostOf({ metadata }: Pod): number {
  const text = metadata.annotations?.[deletionCostAnnotation];
  if (text === undefined || !costText.test(text)) return 0;
  const cost = Number(text);
  const whole = cost | 0;
  return whole === cost ? whole : 0; // invalid beyond 32 bits
}

// A plus sign and leading zeros are invalid, except after a minus sign.
const costText = /^(?:0|[1-9]\d*|-\d+)$/;

type Traits = {
  readonly pod: Pod;
  readonly isAssigned: number;
  readonly phase: number;
  readonly isAvailable: number;
  readonly isReady: number;
  readonly cost: number;
  readonly crowding: number;
  readonly readySince: Instant;
  readonly restarts: number;
  readonly sidecarRestarts: number;
  readonly createdAt: Instant;
  readonly uid: string;
};

/** Computes the sort keys once per Pod instead of in each comparison. */
function traitsOf(pod: Pod, { rankOf, isAvailable, usesDeletionCost = true }: RankingOptions): Traits {
  const { metadata, spec, status } = pod;
  const sidecars = new Set(
    spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  return {
    pod,
    isAssigned: spec?.nodeName ? 1 : 0,
    phase: phases.get(status?.phase ?? '') ?? 0,
    isAvailable: isAvailable?.(pod) ? 1 : 0,
    isReady: isPodReady(pod) ? 1 : 0,
    cost: usesDeletionCost ? deletionCostOf(pod) : 0,
    crowding: rankOf?.(pod) ?? 0,
    readySince: readySince(pod) ?? unknownTime,
    restarts: mostRestarts(status?.containerStatuses ?? []),
    sidecarRestarts: mostRestarts((status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name))),
    createdAt: metadata.creationTimestamp ? parseTime(metadata.creationTimestamp) : unknownTime,
    uid: metadata.uid ?? '',
  };
}

/** An unknown time counts as later than every known one. */
const unknownTime: Instant = Number.POSITIVE_INFINITY;

const phases: ReadonlyMap<string, number> = new Map([
  ['Pending', 0],
  ['Unknown', 1],
  ['Running', 2],
]);

function mostRestarts(statuses: readonly { readonly restartCount?: number }[]): number {
  return statuses.reduce((most, { restartCount = 0 }) => Math.max(most, restartCount), 0);
}

function compare(a: Traits, b: Traits, now: Instant | undefined): number {
  return (
    a.isAssigned - b.isAssigned ||
    a.phase - b.phase ||
    a.isAvailable - b.isAvailable ||
    a.isReady - b.isReady ||
    a.cost - b.cost ||
    b.crowding - a.crowding ||
    compareTimes(a, b, 'readySince', now) ||
    b.restarts - a.restarts ||
    b.sidecarRestarts - a.sidecarRestarts ||
    compareTimes(a, b, 'createdAt', now)
  );
}

/**
 * The later time comes first. On the logarithmic scale, seconds make no difference between Pods that are a week old.
 */
function compareTimes(a: Traits, b: Traits, time: 'readySince' | 'createdAt', now: Instant | undefined): number {
  if (a[time] === b[time]) return 0;
  if (now === undefined || a[time] === unknownTime || b[time] === unknownTime) return a[time] > b[time] ? -1 : 1;
  return magnitude(now - a[time]) - magnitude(now - b[time]) || compareStrings(a.uid, b.uid);
}

/** Returns the binary logarithm of an age in nanoseconds. */
function magnitude(ageMs: number): number {
  return ageMs > 0 ? Math.trunc(Math.log2(ageMs * 1e6)) : -1;
}
