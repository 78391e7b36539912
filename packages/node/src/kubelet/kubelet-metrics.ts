/** Kubelet metrics, under the metric names of Kubernetes. */
import type { MetricRegistry } from '@kruise/client/metrics';
import { isStaticPod } from './admission/critical.ts';
import type { ContainerRole } from './containers/containers.ts';
import type { PodWorker } from './pods/pod-worker.ts';

/** Recorder of kubelet metrics. */
export type KubeletMetrics = {
  countPodStart(): void;
  countPodStartFailure(): void;
  countContainerStart(role: ContainerRole): void;
  countContainerStartFailure(role: ContainerRole, reason: string): void;
  /** Observes the time between first seeing a Pod and running it. */
  observePodStartDuration(durationSeconds: number): void;
  countRejection(reason: string): void;
  countPreemption(resource: string): void;
  countEviction(signal: string): void;
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

/** Registers the kubelet metrics. */
export function createKubeletMetrics(
  registry: MetricRegistry,
  { nodeName, workers }: { readonly nodeName: string; readonly workers: () => readonly PodWorker[] },
): KubeletMetrics {
  registry.gauge('kubelet_node_name', "The node's name. The count is always 1.", ['node']).of(nodeName).set(1);
  const startedPods = registry.counter('kubelet_started_pods_total', 'Number of pods the kubelet started.').of();
  const failedPods = registry
    .counter('kubelet_started_pods_errors_total', 'Number of pods whose sandbox could not be created.')
    .of();
  const started = registry.counter('kubelet_started_containers_total', 'Number of containers the kubelet started.', [
    'container_type',
  ]);
  const failed = registry.counter(
    'kubelet_started_containers_errors_total',
    'Number of containers that failed to start.',
    ['container_type', 'code'],
  );
  const startSeconds = registry
    .histogram(
      'kubelet_pod_start_duration_seconds',
      'Seconds between the kubelet first seeing a pod and the pod running.',
      [],
      startBuckets,
    )
    .of();
  const rejections = registry.counter(
    'kubelet_admission_rejections_total',
    'Number of pods that failed admission on the node.',
    ['reason'],
  );
  const preemptions = registry.counter('kubelet_preemptions', 'Number of pods preempted to admit critical pods.', [
    'preemption_signal',
  ]);
  const evictions = registry.counter('kubelet_evictions', 'Number of pods evicted, by eviction signal.', [
    'eviction_signal',
  ]);
  const runningPods = registry.gauge('kubelet_running_pods', 'Number of pods with a ready sandbox.').of();
  const runningContainers = registry.gauge('kubelet_running_containers', 'Number of containers, by state.', [
    'container_state',
  ]);
  const desired = registry.gauge('kubelet_desired_pods', 'Number of pods the kubelet is instructed to run.', [
    'static',
  ]);
  registry.onCollect(() => {
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
    countPodStart: () => startedPods.increase(),
    countPodStartFailure: () => failedPods.increase(),
    countContainerStart: (role) => started.of(containerTypes[role]).increase(),
    countContainerStartFailure: (role, reason) => failed.of(containerTypes[role], reason).increase(),
    observePodStartDuration: (seconds) => startSeconds.observe(seconds),
    countRejection: (reason) => rejections.of(reason).increase(),
    countPreemption: (resource) => preemptions.of(resource).increase(),
    countEviction: (signal) => evictions.of(signal).increase(),
  };
}
