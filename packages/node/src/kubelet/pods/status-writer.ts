/**
 * Status manager: writes the newest status of each Pod to the API, as a patch of the fields that differ. Conditions and
 * fields of other writers are preserved. Writes are serialized, so that under load several changes of a Pod are
 * coalesced into one write.
 */
import { type Pod, type PodCondition, type PodStatus, pod as podKind, podStatus } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { createDelayingQueue } from '@kruise/client/delaying-queue';
import type { Log } from '@kruise/client/log';
import { isVersionAtLeast } from '@kruise/client/object-key';
import { findCondition } from '@kruise/machinery/conditions';
import { isSame, type JsonObject } from '@kruise/machinery/json-value';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import { createTwoWayMergePatch } from '@kruise/machinery/strategic-merge-diff';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import type { Clock } from '@kruise/values/clock';
import { formatTime } from '@kruise/values/time';
import { isMirrorPod } from '../admission/critical.ts';
import { isTerminalPhase } from './phase.ts';
import { isKubeletCondition } from './pod-conditions.ts';

/** Status update of a Pod. */
export type StatusUpdate = {
  readonly status: PodStatus;
  /** True if a container may still be running: a terminal phase is not reported until no container can run. */
  readonly couldRun: boolean;
  /** True if the node has removed the Pod, so that a terminating Pod may be deleted from the API. */
  readonly isFinished: boolean;
};

/** Writer of Pod statuses. */
export type StatusWriter = {
  /** Enqueues a status update, which replaces a pending one. */
  report(pod: Pod, report: StatusUpdate): void;
  /** Handles a Pod from the API; later patches are computed against this version. */
  observe(pod: Pod): void;
  /** Removes a deleted Pod. */
  remove(uid: string): void;
  /** Resolves when no write is pending. */
  flush(): Promise<void>;
};

type Entry = {
  pod: Pod;
  report: StatusUpdate;
  isBeingWritten: boolean;
  /** True if the last write failed with a conflict. */
  isRefused: boolean;
};

const mergeType = mergeTypeOf(podStatus);
const retryMs = 10_000;
/**
 * Delay before the kubelet corrects its own fields after another writer changed them, because that writer may not be
 * done.
 */
const correctionDelayMs = 10_000;

/** Creates the status writer, which runs until the signal is aborted. */
export function createStatusWriter(client: Client, clock: Clock, log: Log, signal: AbortSignal): StatusWriter {
  const entries = new Map<string, Entry>();
  const delays = createDelayingQueue<string>(clock, enqueue);
  signal.addEventListener('abort', () => delays.clear(), { once: true });
  /** UIDs of Pods with a pending write. */
  const queue = new Set<string>();
  let processing: Promise<void> | undefined;

  function enqueue(uid: string): void {
    queue.add(uid);
    processing ??= processQueue();
  }

  async function processQueue(): Promise<void> {
    for (const uid of queue) {
      queue.delete(uid);
      await tryToWrite(uid);
      if (signal.aborted) break;
    }
    processing = undefined;
  }

  async function tryToWrite(uid: string): Promise<void> {
    const entry = entries.get(uid);
    if (!entry) return;
    entry.isBeingWritten = true;
    entry.isRefused = false;
    try {
      await write(uid, entry);
    } catch (error) {
      // On conflict or deletion, the informer delivers the new state soon.
      entry.isRefused = isConflict(error);
      if (signal.aborted || isNotFound(error) || entry.isRefused) return;
      log.warn(
        { pod: `${entry.pod.metadata.namespace}/${entry.pod.metadata.name}`, error },
        'failed to update pod status',
      );
      delays.set(uid, retryMs, 'change');
    } finally {
      entry.isBeingWritten = false;
    }
  }

  async function write(uid: string, entry: Entry): Promise<void> {
    const { pod, report } = entry;
    const { name = '', namespace = '' } = pod.metadata;
    const reference = { name, namespace };
    const current = pod.status ?? {};
    const wanted = mergedStatus(current, report, clock.now());
    const patch = createTwoWayMergePatch(
      // The cast is safe: a status is JSON like every API object.
      { original: current as JsonObject, modified: wanted as JsonObject },
      mergeType,
    );
    if (Object.keys(patch).length > 0) {
      const written = await client.patch(
        podKind,
        reference,
        { metadata: { uid }, status: patch },
        { type: 'strategic', subresource: 'status', signal },
      );
      if (isNewer(written, entry.pod)) entry.pod = written;
      else if (entry.pod.metadata.resourceVersion !== written.metadata.resourceVersion) scheduleCorrection(uid, entry);
    }
    const { metadata, status } = entry.pod;
    // A newer status that arrived during the write must be written first.
    if (entry.report !== report || !report.isFinished || metadata.deletionTimestamp == null) return;
    if (!isTerminalPhase(status?.phase) || isMirrorPod(entry.pod)) return;
    await client.delete(podKind, reference, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
  }

  function scheduleCorrection(uid: string, { pod, report }: Entry): void {
    if (needsUpdate(pod, report, clock.now())) delays.set(uid, correctionDelayMs, 'change');
  }

  return {
    report(pod, report) {
      const uid = pod.metadata.uid ?? '';
      const entry = entries.get(uid);
      if (!entry) entries.set(uid, { pod, report, isBeingWritten: false, isRefused: false });
      else {
        if (isNewer(pod, entry.pod)) entry.pod = pod;
        entry.report = report;
      }
      enqueue(uid);
    },
    observe(pod) {
      const uid = pod.metadata.uid ?? '';
      const entry = entries.get(uid);
      if (!entry || !isNewer(pod, entry.pod)) return;
      const before = entry.pod;
      const isDeleting = pod.metadata.deletionTimestamp != null && before.metadata.deletionTimestamp == null;
      entry.pod = pod;
      if (isDeleting && entry.report.isFinished) enqueue(uid);
      // The watch event of a write usually arrives before its response.
      else if (!entry.isBeingWritten && (entry.isRefused || !hasSameKubeletFields(before, pod)))
        scheduleCorrection(uid, entry);
    },
    remove(uid) {
      entries.delete(uid);
      delays.cancel(uid);
    },
    flush: async () => processing,
  };
}

/** The watch event of the kubelet's own write has the same resourceVersion and is not newer. */
function isNewer({ metadata: one }: Pod, { metadata: other }: Pod): boolean {
  return (
    one.resourceVersion !== other.resourceVersion && isVersionAtLeast(one.resourceVersion, other.resourceVersion ?? '')
  );
}

/** Reports whether the fields owned by the kubelet are unchanged. Other writers' fields are ignored. */
function hasSameKubeletFields({ status: one = {} }: Pod, { status: other = {} }: Pod): boolean {
  if (one === other) return true;
  const { conditions: ofOne = [], ...restOfOne } = one;
  const { conditions: ofOther = [], ...restOfOther } = other;
  const own = ({ type }: PodCondition) => isKubeletCondition(type);
  return isSame(restOfOne, restOfOther) && isSame(ofOne.filter(own), ofOther.filter(own));
}

function needsUpdate({ status = {} }: Pod, report: StatusUpdate, now: number): boolean {
  const wanted = mergedStatus(status, report, now);
  const patch = createTwoWayMergePatch({ original: status as JsonObject, modified: wanted as JsonObject }, mergeType);
  return Object.keys(patch).length > 0;
}

/** Merges the kubelet's status into the current status, preserving the fields of other writers. */
export function mergedStatus(current: PodStatus, { status, couldRun }: StatusUpdate, now: number): PodStatus {
  const becomesFinal = !isTerminalPhase(current.phase) && isTerminalPhase(status.phase);
  const keepsPhase = becomesFinal && couldRun;
  const { phase, reason, message } = keepsPhase ? current : status;
  const { phase: _phase, reason: _reason, message: _message, conditions: _, ...rest } = status;
  const { resourceClaimStatuses } = current;
  return {
    ...rest,
    ...(phase ? { phase } : {}),
    ...(reason ? { reason } : {}),
    ...(message ? { message } : {}),
    conditions: mergedConditions(current, status, { isEnded: becomesFinal && !couldRun, phase, now }),
    ...(resourceClaimStatuses ? { resourceClaimStatuses } : {}),
  };
}

type Merge = { readonly isEnded: boolean; readonly phase: string | undefined; readonly now: number };

function mergedConditions(current: PodStatus, status: PodStatus, { isEnded, phase, now }: Merge): PodCondition[] {
  const kept = (current.conditions ?? []).filter(({ type }) => !isKubeletCondition(type));
  const disruption = isEnded ? findCondition(status.conditions, 'DisruptionTarget') : undefined;
  const foreign = disruption ? [...kept.filter(({ type }) => type !== disruption.type), disruption] : kept;
  const own = (status.conditions ?? []).filter(({ type }) => isKubeletCondition(type));
  if (!isTerminalPhase(phase)) return [...foreign, ...own];
  // Invariant: a Pod in a terminal phase is never ready.
  const reason = phase === 'Failed' ? 'PodFailed' : 'PodCompleted';
  const unready = own.map((each): PodCondition => {
    if ((each.type !== 'Ready' && each.type !== 'ContainersReady') || each.status !== 'True') return each;
    return { type: each.type, status: 'False', reason, lastProbeTime: null, lastTransitionTime: formatTime(now) };
  });
  return [...foreign, ...unready];
}
