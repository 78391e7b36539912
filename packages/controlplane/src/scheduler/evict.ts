/** Evicts preemption victims. */
import { pod as podKind } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import type { SeriesRecorder } from '@kruise/client/event-series';
import { isNotFound } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { mapConcurrently } from '@kruise/values/map-concurrently';
import type { PodInfo } from './cluster/pod-info.ts';
import { conditionPatch, nominationPatch, patchStatus } from './pod-status.ts';
import type { Candidate } from './preemption.ts';

export type EvictionDependencies = {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: SeriesRecorder;
  /** UIDs of the Pods whose victims are being evicted: not schedulable until that is done. */
  readonly preempting: Set<string>;
};

const maxConcurrentEvictions = 16;

/**
 * Evicts the victims. The last one is deleted only after the Pod is marked as schedulable again: that deletion
 * activates it. Nominations of lower-priority Pods for the node are cleared.
 */
export async function evictFor(
  pod: PodInfo,
  { node, victims }: Candidate,
  nominated: readonly PodInfo[],
  dependencies: EvictionDependencies,
): Promise<void> {
  const { client, preempting } = dependencies;
  preempting.add(pod.uid);
  try {
    for (const other of nominated) {
      const patch = other.priority < pod.priority && nominationPatch(other.pod, '');
      if (patch) await patchStatus(client, other.pod, patch);
    }
    await mapConcurrently(victims.slice(0, -1), maxConcurrentEvictions, (victim) =>
      evict(victim, pod, node, dependencies),
    );
  } finally {
    preempting.delete(pod.uid);
  }
  const last = victims.at(-1);
  if (last) await evict(last, pod, node, dependencies);
}

async function evict(
  victim: PodInfo,
  preemptor: PodInfo,
  node: string,
  dependencies: EvictionDependencies,
): Promise<void> {
  const { client, clock, recorder } = dependencies;
  const schedulerName = preemptor.spec.schedulerName ?? '';
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: `${schedulerName}: preempting to accommodate a higher priority pod`,
  } as const;
  const { name, namespace, uid } = victim;
  try {
    const patch = conditionPatch(victim.pod, condition, clock.now());
    if (patch) await patchStatus(client, victim.pod, patch);
    await client.delete(podKind, { name, namespace }, { preconditions: { uid } });
  } catch (error) {
    // The victim is already deleted.
    if (isNotFound(error)) return;
    throw error;
  }
  recorder.record({
    regarding: victim.pod,
    related: preemptor.pod,
    type: 'Normal',
    reason: 'Preempted',
    action: 'Preempting',
    note: `Preempted by pod ${preemptor.uid} on node ${node}`,
    controller: schedulerName,
  });
}
