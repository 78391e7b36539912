/** Which Pods of a workload can be spared first when there are too many (kcm.md §1). */
import type { Pod } from '@kruise/api/core/pod';
import { compareStrings } from '@kruise/values/go-syntax';
import { type Instant, parseTime } from '@kruise/values/time';
import { isPodReady, readySince } from './pods.ts';

/** The annotation by which users say what it costs them to lose a Pod. */
export const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost';

/** What the order depends on beside the Pods themselves. */
export type RankingOptions = {
  /** Ages are compared by their order of magnitude as of then, and Pods of one magnitude come in the order of uids. */
  readonly now?: Instant;
  /** How crowded the place is where a Pod runs: the more, the sooner it goes. */
  readonly crowdingOf?: (pod: Pod) => number;
  /** Whether a Pod can be relied on: those that cannot go before others that are as ready. */
  readonly isAvailable?: (pod: Pod) => boolean;
  /** Whether it matters what users say it costs to lose a Pod. It does by default. */
  readonly heedsCost?: boolean;
};

/** Pods in the order in which they can be spared: the first is to go first. */
export function rankForDeletion(pods: readonly Pod[], options: RankingOptions = {}): readonly Pod[] {
  return pods
    .map((pod) => traitsOf(pod, options))
    .sort((a, b) => compare(a, b, options.now))
    .map(({ pod }) => pod);
}

/** How many of the active Pods of a workload run on each Pod's node, itself included. */
export function crowdingByNode(siblings: Iterable<Pod>): (pod: Pod) => number {
  const counts = new Map<string, number>();
  for (const { spec } of siblings) {
    const node = spec?.nodeName ?? '';
    counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return ({ spec }) => counts.get(spec?.nodeName ?? '') ?? 0;
}

/** What its owner says it costs to lose a Pod; 0 where nothing, or nothing valid, is said. */
export function deletionCostOf({ metadata }: Pod): number {
  const text = metadata.annotations?.[deletionCostAnnotation];
  if (text === undefined || !costText.test(text)) return 0;
  const cost = Number(text);
  const whole = cost | 0;
  return whole === cost ? whole : 0; // beyond 32 bits it is not valid
}

// A plus sign and leading zeros are refused, but not after a minus sign.
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

/** All that is compared, worked out once a Pod rather than at each of the many comparisons. */
function traitsOf(pod: Pod, { crowdingOf, isAvailable, heedsCost = true }: RankingOptions): Traits {
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
    cost: heedsCost ? deletionCostOf(pod) : 0,
    crowding: crowdingOf?.(pod) ?? 0,
    readySince: readySince(pod) ?? unknownTime,
    restarts: mostRestarts(status?.containerStatuses ?? []),
    sidecarRestarts: mostRestarts((status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name))),
    createdAt: metadata.creationTimestamp ? parseTime(metadata.creationTimestamp) : unknownTime,
    uid: metadata.uid ?? '',
  };
}

/** What is not known counts as later than anything that is. */
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

/** The later comes first; on the scale of magnitudes seconds make no difference between Pods of a week. */
function compareTimes(a: Traits, b: Traits, time: 'readySince' | 'createdAt', now: Instant | undefined): number {
  if (a[time] === b[time]) return 0;
  if (now === undefined || a[time] === unknownTime || b[time] === unknownTime) return a[time] > b[time] ? -1 : 1;
  return magnitude(now - a[time]) - magnitude(now - b[time]) || compareStrings(a.uid, b.uid);
}

/** How often an age can be halved before it is down to a nanosecond. */
function magnitude(ageMs: number): number {
  return ageMs > 0 ? Math.trunc(Math.log2(ageMs * 1e6)) : -1;
}
