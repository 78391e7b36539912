/** Scheduling attempt: one scheduling cycle of a Pod, and its binding or failure handling. */
import type { Pod } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import type { SeriesRecorder } from '@kruise/client/event-series';
import type { Log } from '@kruise/client/log';
import { bind } from '@kruise/client/subresources';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Cluster } from './cluster/cluster.ts';
import type { Lookup } from './cluster/lookup.ts';
import type { NodeInfo } from './cluster/node-info.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import { type Decision, decide, type Outcome, type SchedulingState } from './decide.ts';
import { messageOf } from './diagnosis.ts';
import { createEquivalenceCache } from './equivalence-cache.ts';
import { evictFor } from './evict.ts';
import { decideWith, filterCandidates } from './extenders/extended.ts';
import type { Extender } from './extenders/extender.ts';
import type { Limit } from './limit.ts';
import type { SchedulerMetrics } from './metrics.ts';
import type { Reservation } from './plugin.ts';
import { conditionPatch, nominationPatch, noteOf, patchStatus } from './pod-status.ts';
import { findPreemption, type Preemption, selectCandidate } from './preemption.ts';
import type { Profile } from './profile.ts';
import type { QueuedPod, SchedulingQueue } from './queue/scheduling-queue.ts';

export type AttemptDependencies = {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly recorder: SeriesRecorder;
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly cluster: Cluster;
  readonly queue: SchedulingQueue;
  readonly lookup: Lookup;
  readonly extenders: readonly Extender[];
  /** UIDs of the Pods whose victims are being evicted. */
  readonly preempting: Set<string>;
  /** Pods in the cache. */
  readonly pods: { get(key: string): Pod | undefined };
  /** Concurrency limit for writes. */
  readonly limit: Limit;
  /** Tracks binding cycles that wait, without a limit. */
  readonly waits: Limit;
  readonly metrics?: SchedulerMetrics;
  /** Aborts all waiting. */
  readonly signal: AbortSignal;
};

/** Reason why a Pod was not scheduled, and its consequences. */
type Failure = {
  readonly message: string;
  readonly reason: 'Unschedulable' | 'SchedulerError';
  /** Plugins that rejected the Pod: empty after an error. */
  readonly rejectedBy: ReadonlySet<string>;
  /** Nominated node: empty clears the nomination, omitted keeps it. */
  readonly nominate?: string;
};

type Rejected = Decision & { readonly type: 'rejected' };

/**
 * Attempts Pods one after the other; each search starts where the last one ended. Returns a promise if the caller has
 * to wait.
 */
export function createAttempts(dependencies: AttemptDependencies): (queued: QueuedPod) => Promise<void> | undefined {
  const { client, clock, random, log, recorder, profiles, cluster, queue, lookup, extenders, pods } = dependencies;
  const { limit, waits, metrics, signal } = dependencies;
  const memory = createEquivalenceCache();
  // Pending status writes of rejected Pods, by UID: they must complete before the binding.
  const statusWrites = new Map<string, Promise<void>>();
  let start = 0;
  // Pods of other schedulers do not enter the queue.
  const profileOf = ({ spec }: PodInfo): Profile => profiles.get(spec.schedulerName ?? '')!;

  return function attempt(queued) {
    const { pod } = queued;
    if (pod.isTerminating) {
      queue.done(pod.uid);
      warn(pod.pod, `skip schedule deleting pod: ${pod.key}`);
      return undefined;
    }
    if (cluster.isAssumed(pod.uid)) {
      // The Pod was updated between pop and assume, and was queued a second time.
      queue.done(pod.uid);
      return undefined;
    }
    const startMs = clock.elapsedMs();
    if (extenders.length > 0) return tryWithExtenders(queued, startMs).catch((error) => fail(queued, failureOf(error)));
    try {
      execute(queued, note(decide(profileOf(pod), pod, schedulingState()), startMs));
    } catch (error) {
      fail(queued, failureOf(error));
    }
    return undefined;
  };

  function schedulingState(): SchedulingState {
    return { cluster, nominations: queue.nominator, memory, random, start };
  }

  function note({ decision, nextStart }: Outcome, startMs: number): Decision {
    start = nextStart;
    metrics?.observeDecision(clock.elapsedMs() - startMs);
    return decision;
  }

  async function tryWithExtenders(queued: QueuedPod, startMs: number): Promise<void> {
    const { pod } = queued;
    const decision = note(await decideWith(extenders, profileOf(pod), pod, schedulingState(), log), startMs);
    const preemption = decision.type === 'rejected' ? preemptionFor(pod, decision) : undefined;
    if (decision.type !== 'rejected' || preemption?.type !== 'found') {
      execute(queued, decision);
      return;
    }
    const left = await filterCandidates(extenders, pod, preemption.candidates, cluster.node, log);
    const message = 'no candidate node for preemption';
    reject(
      queued,
      decision,
      left.length > 0 ? { type: 'found', candidates: left } : { type: 'none', message, keepsNomination: true },
    );
  }

  function execute(queued: QueuedPod, decision: Decision): void {
    switch (decision.type) {
      case 'placed':
        place(queued, decision.node);
        break;
      case 'rejected':
        reject(queued, decision, preemptionFor(queued.pod, decision));
        break;
      case 'no nodes':
        fail(queued, { ...failureOf('no nodes available to schedule pods'), reason: 'Unschedulable' });
    }
  }

  /** Finds preemption victims for a Pod; undefined if its profile has no preemption. */
  function preemptionFor(pod: PodInfo, { diagnosis, filters }: Rejected): Preemption | undefined {
    const { preemption: args } = profileOf(pod);
    if (!args) return undefined;
    const nominations = queue.nominator;
    const inCluster = { cluster, nominations, budgets: lookup.budgets(), random, now: clock.now() };
    return findPreemption(pod, diagnosis, filters, inCluster, args);
  }

  function reject(queued: QueuedPod, { diagnosis }: Rejected, preemption: Preemption | undefined): void {
    const { pod } = queued;
    const failure = { reason: 'Unschedulable', rejectedBy: diagnosis.plugins, message: messageOf(diagnosis) } as const;
    if (preemption?.type !== 'found') {
      const message = preemption ? messageOf(diagnosis, `preemption: ${preemption.message}`) : failure.message;
      const keepsNomination = preemption?.keepsNomination ?? true;
      if (preemption) metrics?.observePreemption(undefined);
      fail(queued, { ...failure, message, ...(keepsNomination ? {} : { nominate: '' }) });
      return;
    }
    const candidate = selectCandidate(preemption.candidates, clock.now());
    metrics?.observePreemption(candidate.victims.length);
    const others = queue.nominator.onNode(candidate.node);
    fail(queued, { ...failure, nominate: candidate.node });
    limit.run(
      () => evictFor(pod, candidate, others, dependencies),
      (error) => {
        log.warn({ pod: pod.key, node: candidate.node, error }, 'preemption failed');
        queue.activate(pod.uid);
      },
    );
  }

  function place(queued: QueuedPod, node: NodeInfo): void {
    const { pod } = queued;
    const reservations = profileOf(pod).reservers.flatMap(({ reserve }) => reserve?.(pod, node) ?? []);
    cluster.assume(pod, node.name);
    queue.nominator.remove(pod.uid);
    queue.done(pod.uid);
    const { run } = reservations.length === 0 ? limit : waits;
    const startMs = clock.elapsedMs();
    run(
      async () => {
        await send(pod, node.name, reservations);
        metrics?.observeAttempt(pod.spec.schedulerName ?? '', 'scheduled', clock.elapsedMs() - startMs);
        metrics?.observeScheduled(queued.attempts, clock.elapsedMs() - (queued.readyAt ?? startMs));
      },
      (error) => {
        // On shutdown, the Pod is left to the next leader without a status update.
        if (signal.aborted) return;
        for (const reservation of reservations) reservation.unreserve();
        cluster.forget(pod.uid);
        // For other Pods, a failed binding is equivalent to the deletion of the assumed Pod.
        const before = { ...pod.pod, spec: { ...pod.spec, nodeName: node.name } };
        queue.move({ resource: 'Pod', action: 'Delete', before });
        fail(queued, failureOf(error));
      },
    );
  }

  async function send(pod: PodInfo, node: string, reservations: readonly Reservation[]): Promise<void> {
    const { name, namespace, uid } = pod;
    await statusWrites.get(uid);
    for (const { preBind } of reservations) await preBind(signal);
    const binder = extenders.find((extender) => extender.bind && extender.isInterested(pod));
    await (binder?.bind?.(pod, node) ?? bind(client, { name, namespace, uid }, node));
    recorder.record({
      regarding: pod.pod,
      type: 'Normal',
      reason: 'Scheduled',
      action: 'Binding',
      note: `Successfully assigned ${pod.key} to ${node}`,
      controller: pod.spec.schedulerName ?? '',
    });
  }

  function fail(queued: QueuedPod, { message, reason, rejectedBy, nominate }: Failure): void {
    const { uid, key, spec } = queued.pod;
    metrics?.observeAttempt(spec.schedulerName ?? '', reason === 'Unschedulable' ? 'unschedulable' : 'error', 0);
    const current = pods.get(key);
    if (current?.metadata.uid !== uid || current.spec?.nodeName) {
      // The Pod is deleted, or another scheduler has bound it.
      queue.done(uid);
      return;
    }
    queue.requeue(queued, current, rejectedBy);
    queue.nominator.set(queued.pod, nominate ?? current.status?.nominatedNodeName ?? '');
    warn(current, noteOf(message));
    const condition = { type: 'PodScheduled', status: 'False', reason, message } as const;
    const patch = {
      ...conditionPatch(current, condition, clock.now()),
      ...(nominate === undefined ? {} : nominationPatch(current, nominate)),
    };
    if (Object.keys(patch).length === 0) return;
    const onError = (error: unknown) => log.warn({ pod: key, error }, 'failed to update pod status');
    const { promise, resolve } = Promise.withResolvers<void>();
    statusWrites.set(uid, promise);
    limit.run(async () => {
      await patchStatus(client, current, patch).finally(() => {
        if (statusWrites.get(uid) === promise) statusWrites.delete(uid);
        resolve();
      });
    }, onError);
  }

  function warn(pod: Pod, note: string): void {
    recorder.record({
      regarding: pod,
      type: 'Warning',
      reason: 'FailedScheduling',
      action: 'Scheduling',
      note,
      controller: pod.spec?.schedulerName ?? '',
    });
  }
}

/** Handles an error: the Pod is retried after its backoff, regardless of events. */
function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { message, reason: 'SchedulerError', rejectedBy: new Set(), nominate: '' };
}
