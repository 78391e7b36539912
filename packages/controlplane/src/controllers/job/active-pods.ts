/** Active Pods of a Job: creates missing Pods and deletes surplus ones. */
import type { Pod } from '@kruise/api/core/pod';
import { parallel, type Step } from '@kruise/client/actions';
import { rankForDeletion } from '@kruise/machinery/pod-ranking';
import { isPodReady } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';
import { createPod, deletePod } from '@kruise/workload-kit/pod-control';
import { backoffMs, indexBackoffMs } from './backoff.ts';
import { firstMissing, union } from './indexes.ts';
import {
  failuresBefore,
  indexedPods,
  indexOf,
  isIndexed,
  isSuspended,
  isTracked,
  jobPod,
  release,
  replacesFailedOnly,
} from './job-pods.ts';
import { completionsOf, countsAsFailure, indexesOfPods, isOfJob, type State } from './state.ts';

/** Pod actions and the resulting Pod numbers. */
export type ActivePods = {
  readonly actions: readonly Step[];
  /** Pods that are deleted without being counted. */
  readonly dismissed: ReadonlySet<Pod>;
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  /** Remaining backoff before Pods are created. */
  readonly waitMs?: number;
  /** More work remains than fits into one reconcile. */
  readonly isPartial?: boolean;
};

/** Maximum number of Pods created or deleted in one reconcile. */
const maxPodsPerReconcile = 500;
const minWaitMs = 1000;

/** Keeps all Pods. */
export function keepAll({ active, terminating }: State): ActivePods {
  return {
    actions: [],
    dismissed: new Set(),
    active: active.length,
    ready: active.filter(isPodReady).length,
    terminating: terminating.length,
  };
}

/** Deletes all Pods of a finished Job; they are counted as usual. */
export function deleteAll(state: State): ActivePods {
  const { job, active } = state;
  return {
    ...countsWithout(state, active),
    actions: parallel(active.map((pod) => deletePod(job, pod))),
    dismissed: new Set(),
  };
}

/** Adjusts the number of active Pods to the remaining work. */
export function adjustPods(state: State, now: Instant): ActivePods {
  const { job, active } = state;
  if (isSuspended(job)) return deleteSurplus(state, active);
  const wanted = desiredActiveCount(state);
  const surplus = surplusOf(state, Math.max(0, active.length - wanted));
  // One reconcile either deletes or creates: deleted Pods may make room for new ones.
  if (surplus.length > 0) {
    const isPartial = surplus.length > maxPodsPerReconcile;
    return { ...deleteSurplus(state, surplus.slice(0, maxPodsPerReconcile)), isPartial };
  }
  const terminatingCount = replacesFailedOnly(job) ? state.terminating.length : 0;
  const missing = wanted - terminatingCount - active.length;
  if (missing <= 0) return keepAll(state);
  const isPartial = missing > maxPodsPerReconcile;
  return { ...createMissing(state, Math.min(missing, maxPodsPerReconcile), now), isPartial };
}

function desiredActiveCount({ job, active, succeeded }: State): number {
  const { parallelism = 1, completions } = job.spec ?? {};
  // Without completions, the first success ends the Job; active Pods may finish.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(parallelism, completions - succeeded));
}

/** Returns the Pods that are not needed, and more of the active Pods up to the surplus. */
function surplusOf({ job, active }: State, atLeast: number): readonly Pod[] {
  const rank = (pods: readonly Pod[]) => rankForDeletion(pods, { usesDeletionCost: false });
  if (!isIndexed(job)) return atLeast > 0 ? rank(active).slice(0, atLeast) : [];
  const [valid, invalid] = [active.filter((pod) => isOfJob(job, pod)), active.filter((pod) => !isOfJob(job, pod))];
  const victims: Pod[] = [...invalid];
  const kept: Pod[] = [];
  for (const pods of Map.groupBy(valid, indexOf).values()) {
    const ranked = pods.length > 1 ? rank(pods) : pods;
    victims.push(...ranked.slice(0, -1));
    kept.push(...ranked.slice(-1));
  }
  return victims.length < atLeast ? [...victims, ...rank(kept).slice(0, atLeast - victims.length)] : victims;
}

/** Deletes surplus Pods. They lose their finalizer first, so that none of them counts as failed. */
function deleteSurplus(state: State, pods: readonly Pod[]): ActivePods {
  const actions = [
    ...parallel(pods.filter(isTracked).map(release)),
    ...parallel(pods.map((pod) => deletePod(state.job, pod))),
  ];
  return { ...countsWithout(state, pods), actions, dismissed: new Set(pods) };
}

function countsWithout(state: State, pods: readonly Pod[]): Omit<ActivePods, 'actions' | 'dismissed'> {
  const { active, ready, terminating } = keepAll(state);
  return {
    active: active - pods.length,
    ready: ready - pods.filter(isPodReady).length,
    terminating: terminating + pods.length,
  };
}

/** Creates Pods, unless the backoff is active. */
function createMissing(state: State, count: number, now: Instant): ActivePods {
  const { job } = state;
  const { pods, waitMs } = isIndexed(job) ? podsForIndexes(state, count, now) : nonIndexedPods(state, count, now);
  const present = keepAll(state);
  return {
    ...present,
    actions: parallel(pods.map((pod) => createPod(job, pod))),
    active: present.active + pods.length,
    ...(waitMs > 0 ? { waitMs: Math.max(minWaitMs, waitMs) } : {}),
  };
}

type NewPods = { readonly pods: readonly Pod[]; readonly waitMs: number };

function nonIndexedPods({ job, ended: pods }: State, count: number, now: Instant): NewPods {
  const waitMs = backoffMs(pods, now);
  return waitMs > 0 ? { pods: [], waitMs } : { pods: Array.from({ length: count }, () => jobPod(job)), waitMs };
}

function podsForIndexes(state: State, count: number, now: Instant): NewPods {
  const { job, active, terminating, succeededIndexes, failedIndexes, toBeReplaced } = state;
  const isPerIndex = failedIndexes !== undefined;
  const globalMs = isPerIndex ? 0 : backoffMs(state.ended, now);
  if (globalMs > 0) return { pods: [], waitMs: globalMs };
  const taken = union(
    succeededIndexes,
    failedIndexes ?? [],
    indexesOfPods(active),
    replacesFailedOnly(job) ? indexesOfPods(terminating) : [],
  );
  const indexes = firstMissing(taken, completionsOf(job), count);
  const podFor = indexedPods(job);
  if (!isPerIndex) return { pods: indexes.map((index) => podFor(index)), waitMs: 0 };

  const waits = indexes.map((index) => indexBackoffMs(toBeReplaced.get(index), now));
  const due = indexes.filter((_, position) => waits[position] === 0);
  const pending = waits.filter((wait) => wait > 0);
  return {
    pods: due.map((index) => podFor(index, failuresAfter(state, toBeReplaced.get(index)))),
    waitMs: pending.length > 0 ? Math.min(...pending) : 0,
  };
}

/** Returns the failure counts that the replacement of a Pod starts with. */
function failuresAfter({ job }: State, replaced: Pod | undefined): ReturnType<typeof failuresBefore> {
  if (!replaced) return { counted: 0, ignored: 0 };
  const { counted, ignored } = failuresBefore(replaced);
  return countsAsFailure(job, replaced) ? { counted: counted + 1, ignored } : { counted, ignored: ignored + 1 };
}
