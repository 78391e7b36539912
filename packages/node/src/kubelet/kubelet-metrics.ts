/** What a kubelet counts, by the names kubelets have for it. */
import type { MetricRegistry } from '@kruise/client/metrics';
import type { ContainerRole } from './containers.ts';
import { isStaticPod } from './critical.ts';
import type { PodWorker } from './pod-worker.ts';

/** Told as things happen. */
export type KubeletMetrics = {
  podStarts(): void;
  podStartFailed(): void;
  containerStarts(role: ContainerRole): void;
  containerStartFailed(role: ContainerRole, reason: string): void;
  /** A Pod runs, so long after it was first seen. */
  podRuns(durationSeconds: number): void;
  rejected(reason: string): void;
  preempted(resource: string): void;
  evicted(signal: string): void;
};

const containerTypes: { readonly [R in ContainerRole]: string } = {
  init: 'init_container',
  sidecar: 'init_container',
  regular: 'container',
  ephemeral: 'ephemeral_container',
};

const startBuckets = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];

/** Adds a kubelet's numbers to a registry. */
export function createKubeletMetrics(
  registry: MetricRegistry,
  { nodeName, workers }: { readonly nodeName: string; readonly workers: () => readonly PodWorker[] },
): KubeletMetrics {
  registry.gauge('kubelet_node_name', "The node's name. The count is always 1.", ['node']).of(nodeName).set(1);
  const startedPods = registry.counter('kubelet_started_pods_total', 'Pods that were begun.').of();
  const failedPods = registry
    .counter('kubelet_started_pods_errors_total', 'Pods whose sandbox could not be made.')
    .of();
  const started = registry.counter('kubelet_started_containers_total', 'Containers that were begun.', [
    'container_type',
  ]);
  const failed = registry.counter('kubelet_started_containers_errors_total', 'Containers that could not be started.', [
    'container_type',
    'code',
  ]);
  const startSeconds = registry
    .histogram('kubelet_pod_start_duration_seconds', 'Seconds from first seeing a Pod until it runs.', [], startBuckets)
    .of();
  const rejections = registry.counter('kubelet_admission_rejections_total', 'Pods the node did not take.', ['reason']);
  const preemptions = registry.counter('kubelet_preemptions', 'Pods that made room for others.', ['preemption_signal']);
  const evictions = registry.counter('kubelet_evictions', 'Pods that had to go for want of something.', [
    'eviction_signal',
  ]);
  const runningPods = registry.gauge('kubelet_running_pods', 'Pods that have a sandbox.').of();
  const runningContainers = registry.gauge('kubelet_running_containers', 'Containers there are.', ['container_state']);
  const desired = registry.gauge('kubelet_desired_pods', 'Pods the node is to run.', ['static']);
  registry.onRead(() => {
    const states = new Map([
      ['running', 0],
      ['exited', 0],
      ['created', 0],
      ['unknown', 0],
    ]);
    let sandboxes = 0;
    let statics = 0;
    const all = workers();
    for (const worker of all) {
      const { sandboxes: own, containers } = worker.runtimePod();
      if (own.some(({ isReady }) => isReady)) sandboxes++;
      if (isStaticPod(worker.pod())) statics++;
      for (const { state } of containers) states.set(state, (states.get(state) ?? 0) + 1);
    }
    runningPods.set(sandboxes);
    for (const [state, count] of states) runningContainers.of(state).set(count);
    desired.of('').set(all.length - statics);
    desired.of('true').set(statics);
  });

  return {
    podStarts: () => startedPods.increase(),
    podStartFailed: () => failedPods.increase(),
    containerStarts: (role) => started.of(containerTypes[role]).increase(),
    containerStartFailed: (role, reason) => failed.of(containerTypes[role], reason).increase(),
    podRuns: (seconds) => startSeconds.observe(seconds),
    rejected: (reason) => rejections.of(reason).increase(),
    preempted: (resource) => preemptions.of(resource).increase(),
    evicted: (signal) => evictions.of(signal).increase(),
  };
}
