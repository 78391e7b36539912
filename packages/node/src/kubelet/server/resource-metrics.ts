/** What Pods use, as metrics-server scrapes it: `/metrics/resource`. Samples carry the time they were taken at. */
import { instantOfNanoseconds } from '../../cri/nanoseconds.ts';
import { newestOf } from '../runtime-pod.ts';
import { podUidLabel } from '../sandbox-config.ts';
import { createSamples, type Measure } from './samples.ts';
import { totalOf } from './summary.ts';
import type { KubeletView } from './view.ts';

const cpu: Measure = { type: 'counter', help: '[STABLE] Processor time used, in seconds of one core' };
const memory: Measure = { type: 'gauge', help: '[STABLE] Memory that cannot be had back, in bytes' };
const swap: Measure = { type: 'gauge', help: '[ALPHA] Memory that was moved to disk, in bytes' };
const failure: Measure = { type: 'gauge', help: '[STABLE] 1 if not all could be measured, or else 0' };

const measures = {
  container_cpu_usage_seconds_total: cpu,
  container_memory_working_set_bytes: memory,
  container_start_time_seconds: { type: 'gauge', help: '[STABLE] When the container started, in seconds since 1970' },
  container_swap_usage_bytes: swap,
  node_cpu_usage_seconds_total: cpu,
  node_memory_working_set_bytes: memory,
  node_swap_usage_bytes: swap,
  pod_cpu_usage_seconds_total: cpu,
  pod_memory_working_set_bytes: memory,
  pod_swap_usage_bytes: swap,
  resource_scrape_error: failure,
  scrape_error: { type: 'gauge', help: '[ALPHA] 1 if not all could be measured, or else 0' },
} as const satisfies { readonly [name: string]: Measure };

/** The text of the resource metrics. */
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
