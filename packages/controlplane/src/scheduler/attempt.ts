/** One attempt to place a Pod: a decision, and what follows from it. */
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
import { type Decision, decide } from './decide.ts';
import { messageOf } from './diagnosis.ts';
import { evictFor } from './evict.ts';
import type { Limit } from './limit.ts';
import { createMemory } from './memory.ts';
import type { SchedulerMetrics } from './metrics.ts';
import type { Reservation } from './plugin.ts';
import { conditionPatch, nominationPatch, noteOf, patchStatus } from './pod-status.ts';
import { findPreemption } from './preemption.ts';
import type { Profile } from './profile.ts';
import type { QueuedPod, SchedulingQueue } from './queue/scheduling-queue.ts';

export type Means = {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly recorder: SeriesRecorder;
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly cluster: Cluster;
  readonly queue: SchedulingQueue;
  readonly lookup: Lookup;
  /** The Pods that others are being made to leave for, by uid. */
  readonly preempting: Set<string>;
  /** The Pods as they were last seen. */
  readonly pods: { get(key: string): Pod | undefined };
  /** Has writes done, a number at a time. */
  readonly limit: Limit;
  /** Has waited for what takes its time, for any number of Pods. */
  readonly waits: Limit;
  readonly metrics?: SchedulerMetrics;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
};

/** Why a Pod was not placed, and what follows from it. */
type Failure = {
  readonly message: string;
  readonly reason: 'Unschedulable' | 'SchedulerError';
  /** The plugins that were against it: none, if something went wrong. */
  readonly rejectedBy: ReadonlySet<string>;
  /** The node it is to come to: none, if that is empty; as before, if it is left out. */
  readonly nominate?: string;
};

/** Tries Pods one after the other; each search begins where the last one ended. */
export function createAttempts(means: Means): (queued: QueuedPod) => void {
  const {
    client,
    clock,
    random,
    log,
    recorder,
    profiles,
    cluster,
    queue,
    lookup,
    pods,
    limit,
    waits,
    metrics,
    signal,
  } = means;
  const memory = createMemory();
  let start = 0;
  // Pods of other schedulers do not come into the queue.
  const profileOf = ({ spec }: PodInfo): Profile => profiles.get(spec.schedulerName ?? '')!;

  return function attempt(queued) {
    const { pod } = queued;
    if (pod.isTerminating) {
      queue.done(pod.uid);
      warn(pod.pod, `skip schedule deleting pod: ${pod.key}`);
    } else if (cluster.isAssumed(pod.uid)) {
      // It changed between being taken and being assumed, and so came here once more.
      queue.done(pod.uid);
    } else {
      try {
        carryOut(queued, choose(queued));
      } catch (error) {
        fail(queued, failureOf(error));
      }
    }
  };

  function choose({ pod }: QueuedPod): Decision {
    const begun = clock.now();
    const { decision, nextStart } = decide(profileOf(pod), pod, {
      cluster,
      nominations: queue.nominator,
      memory,
      random,
      start,
    });
    start = nextStart;
    metrics?.decided(clock.now() - begun);
    return decision;
  }

  function carryOut(queued: QueuedPod, decision: Decision): void {
    switch (decision.type) {
      case 'placed':
        place(queued, decision.node);
        break;
      case 'rejected':
        reject(queued, decision);
        break;
      case 'no nodes':
        fail(queued, { ...failureOf('no nodes available to schedule pods'), reason: 'Unschedulable' });
    }
  }

  function reject(queued: QueuedPod, { diagnosis, filters }: Decision & { readonly type: 'rejected' }): void {
    const { pod } = queued;
    const failure = { reason: 'Unschedulable', rejectedBy: diagnosis.plugins } as const;
    const { preemption: args } = profileOf(pod);
    if (!args) {
      fail(queued, { ...failure, message: messageOf(diagnosis) });
      return;
    }
    const circumstances = {
      cluster,
      nominations: queue.nominator,
      budgets: lookup.budgets(),
      random,
      now: clock.now(),
    };
    const preemption = findPreemption(pod, diagnosis, filters, circumstances, args);
    metrics?.preempted(preemption.type === 'found' ? preemption.candidate.victims.length : undefined);
    if (preemption.type === 'none') {
      const message = messageOf(diagnosis, `preemption: ${preemption.message}`);
      fail(queued, { ...failure, message, ...(preemption.keepsNomination ? {} : { nominate: '' }) });
      return;
    }
    const { candidate } = preemption;
    const others = queue.nominator.onNode(candidate.node);
    fail(queued, { ...failure, message: messageOf(diagnosis), nominate: candidate.node });
    limit.run(
      () => evictFor(pod, candidate, others, means),
      (error) => {
        log.warn({ pod: pod.key, node: candidate.node, error }, 'Pods could not be made to leave for another');
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
    const begun = clock.now();
    run(
      async () => {
        await send(pod, node.name, reservations);
        metrics?.attempted(pod.spec.schedulerName ?? '', 'scheduled', clock.now() - begun);
        metrics?.placed(queued.attempts, clock.now() - (queued.readyAt ?? begun));
      },
      (error) => {
        // Whoever is told to stop leaves the Pod to the next, and has nothing to say of it.
        if (signal.aborted) return;
        for (const reservation of reservations) reservation.unreserve();
        cluster.forget(pod.uid);
        // To others it is as if the Pod had been there and gone.
        const before = { ...pod.pod, spec: { ...pod.spec, nodeName: node.name } };
        queue.move({ resource: 'Pod', action: 'Delete', before });
        fail(queued, failureOf(error));
      },
    );
  }

  async function send(pod: PodInfo, node: string, reservations: readonly Reservation[]): Promise<void> {
    const { name, namespace, uid } = pod;
    for (const { preBind } of reservations) await preBind(signal);
    await bind(client, { name, namespace, uid }, node);
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
    metrics?.attempted(spec.schedulerName ?? '', reason === 'Unschedulable' ? 'unschedulable' : 'error', 0);
    const current = pods.get(key);
    if (current?.metadata.uid !== uid || current.spec?.nodeName) {
      // It is gone, or has got a node from someone else.
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
    const onError = (error: unknown) => log.warn({ pod: key, error }, 'the status of a Pod could not be written');
    limit.run(() => patchStatus(client, current, patch), onError);
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

/** Something went wrong: the Pod is tried again after its back-off, whatever happens. */
function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { message, reason: 'SchedulerError', rejectedBy: new Set(), nominate: '' };
}
