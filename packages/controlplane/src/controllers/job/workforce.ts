/** Active Pods of a Job: creates missing Pods and deletes surplus ones. */
import type { Pod } from '@kruise/api/core/pod';
import type { Action } from '@kruise/client/actions';
import { rankForDeletion } from '@kruise/machinery/pod-ranking';
import { isPodReady } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';
import { createPod, deletePod } from '../pod-control.ts';
import { backoffMs, indexBackoffMs } from './backoff.ts';
import { type Census, completionsOf, doesCount, indexesOfPods, isOfJob } from './census.ts';
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

/** Pod actions and the resulting Pod numbers. */
export type Workforce = {
  readonly actions: readonly Action[];
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
const maxPodsPerPass = 500;
const minWaitMs = 1000;

/** Keeps all Pods. */
export function unchanged({ active, terminating }: Census): Workforce {
  return {
    actions: [],
    dismissed: new Set(),
    active: active.length,
    ready: active.filter(isPodReady).length,
    terminating: terminating.length,
  };
}

/** Deletes all Pods of a finished Job; they are counted as usual. */
export function ended(census: Census): Workforce {
  const { job, active } = census;
  return { ...without(census, active), actions: active.map((pod) => deletePod(job, pod)), dismissed: new Set() };
}

/** Adjusts the number of active Pods to the remaining work. */
export function adjusted(census: Census, now: Instant): Workforce {
  const { job, active } = census;
  if (isSuspended(job)) return dismiss(census, active);
  const wanted = wantedCount(census);
  const surplus = surplusOf(census, Math.max(0, active.length - wanted));
  // One reconcile either deletes or creates: deleted Pods may make room for new ones.
  if (surplus.length > 0) {
    const isPartial = surplus.length > maxPodsPerPass;
    return { ...dismiss(census, surplus.slice(0, maxPodsPerPass)), isPartial };
  }
  const leaving = replacesFailedOnly(job) ? census.terminating.length : 0;
  const missing = wanted - leaving - active.length;
  if (missing <= 0) return unchanged(census);
  const isPartial = missing > maxPodsPerPass;
  return { ...engage(census, Math.min(missing, maxPodsPerPass), now), isPartial };
}

function wantedCount({ job, active, succeeded }: Census): number {
  const { parallelism = 1, completions } = job.spec ?? {};
  // Without completions, the first success ends the Job; active Pods may finish.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(parallelism, completions - succeeded));
}

/** Returns the Pods that are not needed, and more of the active Pods up to the surplus. */
function surplusOf({ job, active }: Census, atLeast: number): readonly Pod[] {
  const rank = (pods: readonly Pod[]) => rankForDeletion(pods, { heedsCost: false });
  if (!isIndexed(job)) return atLeast > 0 ? rank(active).slice(0, atLeast) : [];
  const [useful, useless] = [active.filter((pod) => isOfJob(job, pod)), active.filter((pod) => !isOfJob(job, pod))];
  const goes: Pod[] = [...useless];
  const stays: Pod[] = [];
  for (const pods of Map.groupBy(useful, indexOf).values()) {
    const ranked = pods.length > 1 ? rank(pods) : pods;
    goes.push(...ranked.slice(0, -1));
    stays.push(...ranked.slice(-1));
  }
  return goes.length < atLeast ? [...goes, ...rank(stays).slice(0, atLeast - goes.length)] : goes;
}

/** Deletes surplus Pods. They lose their finalizer first, so that none of them counts as failed. */
function dismiss(census: Census, pods: readonly Pod[]): Workforce {
  const actions = [...pods.filter(isTracked).map(release), ...pods.map((pod) => deletePod(census.job, pod))];
  return { ...without(census, pods), actions, dismissed: new Set(pods) };
}

function without(census: Census, pods: readonly Pod[]): Omit<Workforce, 'actions' | 'dismissed'> {
  const { active, ready, terminating } = unchanged(census);
  return {
    active: active - pods.length,
    ready: ready - pods.filter(isPodReady).length,
    terminating: terminating + pods.length,
  };
}

/** Creates Pods, unless the backoff is active. */
function engage(census: Census, count: number, now: Instant): Workforce {
  const { job } = census;
  const { pods, waitMs } = isIndexed(job) ? forIndexes(census, count, now) : alike(census, count, now);
  const present = unchanged(census);
  return {
    ...present,
    actions: pods.map((pod) => createPod(job, pod)),
    active: present.active + pods.length,
    ...(waitMs > 0 ? { waitMs: Math.max(minWaitMs, waitMs) } : {}),
  };
}

type Recruits = { readonly pods: readonly Pod[]; readonly waitMs: number };

function alike({ job, ended: pods }: Census, count: number, now: Instant): Recruits {
  const waitMs = backoffMs(pods, now);
  return waitMs > 0 ? { pods: [], waitMs } : { pods: Array.from({ length: count }, () => jobPod(job)), waitMs };
}

function forIndexes(census: Census, count: number, now: Instant): Recruits {
  const { job, active, terminating, succeededIndexes, failedIndexes, toBeReplaced } = census;
  const isPerIndex = failedIndexes !== undefined;
  const globalMs = isPerIndex ? 0 : backoffMs(census.ended, now);
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
    pods: due.map((index) => podFor(index, failuresAfter(census, toBeReplaced.get(index)))),
    waitMs: pending.length > 0 ? Math.min(...pending) : 0,
  };
}

/** Returns the failure counts that the replacement of a Pod starts with. */
function failuresAfter({ job }: Census, replaced: Pod | undefined): ReturnType<typeof failuresBefore> {
  if (!replaced) return { counted: 0, ignored: 0 };
  const { counted, ignored } = failuresBefore(replaced);
  return doesCount(job, replaced) ? { counted: counted + 1, ignored } : { counted, ignored: ignored + 1 };
}
