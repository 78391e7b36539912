/** Resource metrics of `/metrics/resource`, which metrics-server scrapes. Samples carry their timestamps. */
import { instantOfNanoseconds } from '../../cri/nanoseconds.ts';
import { podUidLabel } from '../containers/sandbox-config.ts';
import { newestOf } from '../runtime/runtime-pod.ts';
import { createSamples, type MetricInfo } from './samples.ts';
import { totalOf } from './summary.ts';
import type { KubeletView } from './view.ts';

const cpu: MetricInfo = { type: 'counter', help: '[STABLE] Cumulative CPU time consumed, in core-seconds' };
const memory: MetricInfo = { type: 'gauge', help: '[STABLE] Current working set, in bytes' };
const swap: MetricInfo = { type: 'gauge', help: '[ALPHA] Current swap usage, in bytes' };
const failure: MetricInfo = {
  type: 'gauge',
  help: '[STABLE] 1 if there was an error while getting the metrics, 0 otherwise',
};

const measures = {
  container_cpu_usage_seconds_total: cpu,
  container_memory_working_set_bytes: memory,
  container_start_time_seconds: {
    type: 'gauge',
    help: '[STABLE] Start time of the container, in seconds since the Unix epoch',
  },
  container_swap_usage_bytes: swap,
  node_cpu_usage_seconds_total: cpu,
  node_memory_working_set_bytes: memory,
  node_swap_usage_bytes: swap,
  pod_cpu_usage_seconds_total: cpu,
  pod_memory_working_set_bytes: memory,
  pod_swap_usage_bytes: swap,
  resource_scrape_error: failure,
  scrape_error: { type: 'gauge', help: '[ALPHA] 1 if there was an error while getting the metrics, 0 otherwise' },
} as const satisfies { readonly [name: string]: MetricInfo };

/** Returns the resource metrics in text format. */
export async function resourceMetrics(view: KubeletView): Promise<string> {
  const samples = createSamples(measures);
  const { stats } = await view.runtime.listPodSandboxStats({});
  const workers = new Map(view.workers().map((worker) => [worker.uid, worker]));
  for (const { attributes, linux } of stats) {
    const worker = workers.get(attributes.labels[podUidLabel] ?? '');
    if (!worker || !linux) continue;
    const { name: pod, namespace } = attributes.metadata;
    const labels = { namespace, pod };
    let swapBytes = 0;
    for (const each of linux.containers) {
      const { name } = each.attributes.metadata;
      const own = { container: name, ...labels };
      const startedAt = newestOf(worker.runtimePod(), name)?.startedAt;
      if (each.cpu) add('container_cpu_usage_seconds_total', own, secondsOf(each.cpu), each.cpu);
      if (each.memory) add('container_memory_working_set_bytes', own, each.memory.workingSetBytes, each.memory);
      if (each.swap) add('container_swap_usage_bytes', own, each.swap.swapUsageBytes, each.swap);
      if (startedAt !== undefined) samples.add('container_start_time_seconds', own, startedAt / 1000);
      swapBytes += each.swap?.swapUsageBytes ?? 0;
    }
    if (linux.cpu) add('pod_cpu_usage_seconds_total', labels, secondsOf(linux.cpu), linux.cpu);
    if (linux.memory) {
      add('pod_memory_working_set_bytes', labels, linux.memory.workingSetBytes, linux.memory);
      add('pod_swap_usage_bytes', labels, swapBytes, linux.memory);
    }
  }
  const total = totalOf(stats);
  const now = view.clock.now();
  samples.add('node_cpu_usage_seconds_total', {}, total.coreNanoSeconds / 1e9, now);
  samples.add('node_memory_working_set_bytes', {}, total.memoryBytes, now);
  samples.add('node_swap_usage_bytes', {}, total.swapBytes, now);
  samples.add('resource_scrape_error', {}, 0);
  samples.add('scrape_error', {}, 0);
  return samples.text();

  function add(
    name: keyof typeof measures,
    labels: { readonly [label: string]: string },
    value: number | undefined,
    { timestamp }: { readonly timestamp: bigint },
  ): void {
    samples.add(name, labels, value ?? 0, instantOfNanoseconds(timestamp));
  }
}

function secondsOf({ usageCoreNanoSeconds = 0 }: { readonly usageCoreNanoSeconds?: number }): number {
  return usageCoreNanoSeconds / 1e9;
}
