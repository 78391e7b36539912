/**
 * Brings the statuses of a node's Pods into the API: a Pod's newest status alone, and of it only what differs. What
 * others write into a status is left alone. One is written at a time, so that where much happens at once a Pod has
 * come a good way until it is its turn, and less is written.
 */
import { type Pod, type PodCondition, type PodStatus, pod as podKind, podStatus } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { createDelays } from '@kruise/client/delays';
import type { Log } from '@kruise/client/log';
import { isAtLeast } from '@kruise/client/object-key';
import { findCondition } from '@kruise/machinery/conditions';
import { isSame, type JsonObject } from '@kruise/machinery/json-value';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import { createTwoWayMergePatch } from '@kruise/machinery/strategic-merge-diff';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import type { Clock } from '@kruise/values/clock';
import { formatTime } from '@kruise/values/time';
import { isMirrorPod } from './critical.ts';
import { isFinal } from './phase.ts';
import { isKubeletCondition } from './pod-conditions.ts';

/** What is to be written of a Pod. */
export type Report = {
  readonly status: PodStatus;
  /** Whether a container may still run: until none can, nobody is told that the Pod is over. */
  readonly couldRun: boolean;
  /** Whether nothing is left of it on the node, so that it may go from the API if it is being deleted. */
  readonly isFinished: boolean;
};

/** Writes statuses. */
export type StatusWriter = {
  /** Has a Pod's status written, in place of one that is waiting to be. */
  report(pod: Pod, report: Report): void;
  /** A Pod was seen in the API: what it says is what the next write is compared with. */
  seen(pod: Pod): void;
  /** The Pod is gone. */
  forget(uid: string): void;
  /** Resolves when nothing is waiting to be written. */
  settled(): Promise<void>;
};

type Entry = {
  pod: Pod;
  report: Report;
  isBeingWritten: boolean;
  /** Someone else was writing when it was last to be written. */
  isRefused: boolean;
};

const mergeType = mergeTypeOf(podStatus);
const retryMs = 10_000;
/** What others change in a kubelet's own fields is put right, but not at once: they may be at it still. */
const correctMs = 10_000;

/** Writes statuses of a node's Pods until the signal is aborted. */
export function createStatusWriter(client: Client, clock: Clock, log: Log, signal: AbortSignal): StatusWriter {
  const entries = new Map<string, Entry>();
  const delays = createDelays<string>(clock, touch);
  signal.addEventListener('abort', () => delays.clear(), { once: true });
  /** Pods whose turn is to come, by uid. */
  const queue = new Set<string>();
  let writing: Promise<void> | undefined;

  function touch(uid: string): void {
    queue.add(uid);
    writing ??= writeAll();
  }

  async function writeAll(): Promise<void> {
    for (const uid of queue) {
      queue.delete(uid);
      await tryToWrite(uid);
      if (signal.aborted) break;
    }
    writing = undefined;
  }

  async function tryToWrite(uid: string): Promise<void> {
    const entry = entries.get(uid);
    if (!entry) return;
    entry.isBeingWritten = true;
    entry.isRefused = false;
    try {
      await write(uid, entry);
    } catch (error) {
      // What someone else changed or deleted meanwhile is seen soon.
      entry.isRefused = isConflict(error);
      if (signal.aborted || isNotFound(error) || entry.isRefused) return;
      log.warn(
        { pod: `${entry.pod.metadata.namespace}/${entry.pod.metadata.name}`, error },
        'a status was not written',
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
      // A status is JSON, like all of an object.
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
      else if (entry.pod.metadata.resourceVersion !== written.metadata.resourceVersion) correctLater(uid, entry);
    }
    const { metadata, status } = entry.pod;
    // While it was being written there may have come something newer to write first.
    if (entry.report !== report || !report.isFinished || metadata.deletionTimestamp == null) return;
    if (!isFinal(status?.phase) || isMirrorPod(entry.pod)) return;
    await client.delete(podKind, reference, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
  }

  function correctLater(uid: string, { pod, report }: Entry): void {
    if (differs(pod, report, clock.now())) delays.set(uid, correctMs, 'change');
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
      touch(uid);
    },
    seen(pod) {
      const uid = pod.metadata.uid ?? '';
      const entry = entries.get(uid);
      if (!entry || !isNewer(pod, entry.pod)) return;
      const before = entry.pod;
      const isDeleting = pod.metadata.deletionTimestamp != null && before.metadata.deletionTimestamp == null;
      entry.pod = pod;
      if (isDeleting && entry.report.isFinished) touch(uid);
      // What is being written comes back before it is answered for, as a rule.
      else if (!entry.isBeingWritten && (entry.isRefused || !hasSameOwnWords(before, pod))) correctLater(uid, entry);
    },
    forget(uid) {
      entries.delete(uid);
      delays.cancel(uid);
    },
    settled: async () => writing,
  };
}

/** What was written comes back as it was answered: that is no news. */
function isNewer({ metadata: one }: Pod, { metadata: other }: Pod): boolean {
  return one.resourceVersion !== other.resourceVersion && isAtLeast(one.resourceVersion, other.resourceVersion ?? '');
}

/** Whether nothing has changed of what is a kubelet's to say. What others say besides is theirs. */
function hasSameOwnWords({ status: one = {} }: Pod, { status: other = {} }: Pod): boolean {
  if (one === other) return true;
  const { conditions: ofOne = [], ...restOfOne } = one;
  const { conditions: ofOther = [], ...restOfOther } = other;
  const own = ({ type }: PodCondition) => isKubeletCondition(type);
  return isSame(restOfOne, restOfOther) && isSame(ofOne.filter(own), ofOther.filter(own));
}

function differs({ status = {} }: Pod, report: Report, now: number): boolean {
  const wanted = mergedStatus(status, report, now);
  const patch = createTwoWayMergePatch({ original: status as JsonObject, modified: wanted as JsonObject }, mergeType);
  return Object.keys(patch).length > 0;
}

/** The status as it is to be: the kubelet's own over what others have put there. */
export function mergedStatus(current: PodStatus, { status, couldRun }: Report, now: number): PodStatus {
  const becomesFinal = !isFinal(current.phase) && isFinal(status.phase);
  const isHeldBack = becomesFinal && couldRun;
  const { phase, reason, message } = isHeldBack ? current : status;
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
  if (!isFinal(phase)) return [...foreign, ...own];
  // Nobody is ever to see a Pod that is over and ready.
  const reason = phase === 'Failed' ? 'PodFailed' : 'PodCompleted';
  const unready = own.map((each): PodCondition => {
    if ((each.type !== 'Ready' && each.type !== 'ContainersReady') || each.status !== 'True') return each;
    return { type: each.type, status: 'False', reason, lastProbeTime: null, lastTransitionTime: formatTime(now) };
  });
  return [...foreign, ...unready];
}
