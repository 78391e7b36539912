/** Admission of Pods on their node: a Pod is admitted, rejected, or admitted after the preemption of other Pods. */
import type { Pod } from '@kruise/api/core/pod';
import type { Clock } from '@kruise/values/clock';
import { preemptedStatus, preemptionMessage } from '../eviction/disruption.ts';
import type { KubeletMetrics } from '../kubelet-metrics.ts';
import type { NodeAgent } from '../node/node-agent.ts';
import type { RecordPodEvent } from '../node/node-context.ts';
import { isTerminalPhase } from '../pods/phase.ts';
import type { PodWorker } from '../pods/pod-worker.ts';
import type { PodWorkers } from '../pods/pod-workers.ts';
import { findRejection, hostPortsOf, insufficientResources, isInsufficientResources } from './admission.ts';
import { type Allocations, type Rejection, requestsOf, withAllocatedResources } from './allocations.ts';
import { isCriticalPod } from './critical.ts';
import { selectVictims } from './preemption.ts';

/** Admission on a node. */
export type PodAdmission = {
  /** Returns why the node would reject a Pod; undefined if the node would admit it. */
  findRejectionFor(pod: Pod): Rejection | undefined;
  /** Admits the Pod of a new worker, or rejects it. */
  admit(worker: PodWorker): void;
  /** Rejects all Pods from now on, because the node shuts down. */
  close(): void;
};

/** Dependencies of admission. */
export type AdmissionContext = {
  readonly clock: Clock;
  readonly agent: Pick<NodeAgent, 'node' | 'pressures'>;
  readonly workers: PodWorkers;
  readonly allocations: Allocations;
  readonly metrics: KubeletMetrics;
  readonly record: RecordPodEvent;
};

/** Creates the admission of a node. */
export function createPodAdmission(context: AdmissionContext): PodAdmission {
  const { clock, agent, workers, allocations, metrics, record } = context;
  let isShuttingDown = false;

  function findRejectionFor(pod: Pod): Rejection | undefined {
    const node = agent.node();
    if (!node) return { reason: 'InvalidNodeInfo', message: 'Kubelet cannot get node info.' };
    const uid = pod.metadata.uid ?? '';
    return findRejection(pod, {
      node,
      requests: requestsOf(pod),
      used: allocations.usedByOthers(uid),
      hostPorts: hostPortsExcept(uid),
      pressures: [...agent.pressures()],
      isShuttingDown,
    });
  }

  function* hostPortsExcept(uid: string): Generator<string> {
    for (const worker of workers.values())
      if (worker.uid !== uid && worker.isActive()) yield* hostPortsOf(worker.pod());
  }

  function admit(worker: PodWorker): void {
    const pod = worker.pod();
    const isOver = isTerminalPhase(pod.status?.phase) || pod.metadata.deletionTimestamp != null;
    const refusal = isOver ? undefined : findRejectionFor(withAllocatedResources(pod));
    if (!refusal) {
      allocations.admit(pod);
      worker.update(pod);
    } else if (!isInsufficientResources(refusal) || !isCriticalPod(pod) || !preemptFor(worker)) worker.reject(refusal);
  }

  /** Preempts other Pods to admit a critical Pod; returns false if no set of victims makes enough room. */
  function preemptFor(worker: PodWorker): boolean {
    const pod = worker.pod();
    const node = agent.node();
    if (!node) return false;
    const admissionState = { node, requests: requestsOf(pod), used: allocations.usedByOthers(worker.uid) };
    const missing = new Map(
      insufficientResources(admissionState).map((each) => [each.name, each.used + each.requested - each.capacity]),
    );
    const candidates = workers
      .all()
      .filter((each) => each !== worker && each.isActive())
      .map((each) => ({ worker: each, pod: each.pod(), requests: requestsOf(each.pod()) }));
    const victims = selectVictims(missing, candidates);
    for (const victim of victims) {
      record(victim.pod, 'Warning', 'Preempting', preemptionMessage);
      metrics.countPreemption([...missing.keys()][0] ?? '');
      victim.worker.kill({ verdict: (status) => preemptedStatus(status, clock.now()) });
    }
    if (victims.length > 0) void Promise.all(victims.map((victim) => victim.worker.ended)).then(() => admit(worker));
    return victims.length > 0;
  }

  return {
    findRejectionFor,
    admit,
    close() {
      isShuttingDown = true;
    },
  };
}
