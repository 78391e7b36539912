/**
 * Container metrics of `/metrics/cadvisor`, under the names of cAdvisor, which dashboards expect. Metrics that only a
 * kernel could measure are omitted.
 */
import type { CpuUsage, MemoryUsage, NetworkInterfaceUsage, NetworkUsage } from '../../cri/messages.ts';
import { instantOfNanoseconds } from '../../cri/nanoseconds.ts';
import { cgroupParentOf } from '../containers/linux-resources.ts';
import { podUidLabel } from '../containers/sandbox-config.ts';
import { newestOf } from '../runtime/runtime-pod.ts';
import { createSamples, type MetricInfo } from './samples.ts';
import type { KubeletView } from './view.ts';

const counter = (help: string): MetricInfo => ({ type: 'counter', help });
const gauge = (help: string): MetricInfo => ({ type: 'gauge', help });

const measures = {
  cadvisor_version_info: gauge('Version information; the value is always 1'),
  container_cpu_usage_seconds_total: counter('Cumulative CPU time consumed, in core-seconds'),
  container_fs_usage_bytes: gauge('Disk space used by the container, in bytes'),
  container_last_seen: gauge('Last time the container was seen, in seconds since the Unix epoch'),
  container_memory_rss: gauge('Resident set size, in bytes'),
  container_memory_swap: gauge('Swap usage, in bytes'),
  container_memory_usage_bytes: gauge('Memory usage including caches, in bytes'),
  container_memory_working_set_bytes: gauge('Working set: memory that cannot be reclaimed, in bytes'),
  container_network_receive_bytes_total: counter('Cumulative bytes received'),
  container_network_receive_errors_total: counter('Cumulative errors while receiving'),
  container_network_transmit_bytes_total: counter('Cumulative bytes transmitted'),
  container_network_transmit_errors_total: counter('Cumulative errors while transmitting'),
  container_processes: gauge('Number of processes in the container'),
  container_spec_cpu_quota: gauge('CPU quota of each period, in microseconds'),
  container_spec_cpu_period: gauge('CPU period, in microseconds'),
  container_spec_memory_limit_bytes: gauge('Memory limit, in bytes; 0 if unlimited'),
  container_start_time_seconds: gauge('Start time of the container, in seconds since the Unix epoch'),
  machine_cpu_cores: gauge('Number of CPU cores of the node'),
  machine_memory_bytes: gauge('Memory capacity of the node, in bytes'),
} as const satisfies { readonly [name: string]: MetricInfo };

type Labels = { readonly [label: string]: string };

const at = instantOfNanoseconds;
const periodMicroseconds = 100_000;

/** Returns the cAdvisor metrics in text format. */
export async function cadvisorMetrics(view: KubeletView): Promise<string> {
  const samples = createSamples(measures);
  const { stats } = await view.runtime.listPodSandboxStats({});
  const workers = new Map(view.workers().map((worker) => [worker.uid, worker]));
  for (const { attributes, linux } of stats) {
    const worker = workers.get(attributes.labels[podUidLabel] ?? '');
    if (!worker || !linux) continue;
    const { name: pod, namespace } = attributes.metadata;
    const group = cgroupParentOf(worker.pod(), view.settings.cgroupDriver, view.settings.cgroupRoot);
    const podLabels = { container: '', id: group, image: '', name: '', namespace, pod };
    for (const { attributes: of, cpu, memory, writableLayer, swap } of linux.containers) {
      const { name } = of.metadata;
      const found = newestOf(worker.runtimePod(), name);
      const labels = { ...podLabels, container: name, id: `${group}/${of.id}`, image: found?.image ?? '', name: of.id };
      addUsage(labels, cpu, memory);
      if (swap) samples.add('container_memory_swap', labels, swap.swapUsageBytes ?? 0, at(swap.timestamp));
      if (writableLayer) {
        const { usedBytes = 0, timestamp } = writableLayer;
        samples.add('container_fs_usage_bytes', { ...labels, device: '' }, usedBytes, at(timestamp));
      }
      if (!found) continue;
      samples.add('container_start_time_seconds', labels, found.startedAt / 1000);
      samples.add('container_last_seen', labels, view.clock.now() / 1000);
      const { cpuLimitMilli, memoryLimitBytes = 0 } = found.resources ?? {};
      samples.add('container_spec_memory_limit_bytes', labels, memoryLimitBytes);
      samples.add('container_spec_cpu_period', labels, periodMicroseconds);
      if (cpuLimitMilli !== undefined) {
        samples.add('container_spec_cpu_quota', labels, (cpuLimitMilli * periodMicroseconds) / 1000);
      }
    }
    addUsage(podLabels, linux.cpu, linux.memory);
    const { network, process } = linux;
    if (process) samples.add('container_processes', podLabels, process.processCount ?? 0, at(process.timestamp));
    for (const each of interfacesOf(network)) {
      const labels = { ...podLabels, interface: each.name };
      const time = at(network!.timestamp);
      samples.add('container_network_receive_bytes_total', labels, each.rxBytes ?? 0, time);
      samples.add('container_network_receive_errors_total', labels, each.rxErrors ?? 0, time);
      samples.add('container_network_transmit_bytes_total', labels, each.txBytes ?? 0, time);
      samples.add('container_network_transmit_errors_total', labels, each.txErrors ?? 0, time);
    }
  }
  const { cores, memoryBytes } = view.machine;
  samples.add('cadvisor_version_info', { kubeletVersion: view.version }, 1);
  samples.add('machine_cpu_cores', {}, cores);
  samples.add('machine_memory_bytes', {}, memoryBytes);
  return samples.text();

  function addUsage(labels: Labels, cpu: CpuUsage | undefined, memory: MemoryUsage | undefined): void {
    if (cpu) {
      const seconds = (cpu.usageCoreNanoSeconds ?? 0) / 1e9;
      samples.add('container_cpu_usage_seconds_total', { ...labels, cpu: 'total' }, seconds, at(cpu.timestamp));
    }
    if (!memory) return;
    const { workingSetBytes = 0, usageBytes = 0, rssBytes = 0, timestamp } = memory;
    samples.add('container_memory_working_set_bytes', labels, workingSetBytes, at(timestamp));
    samples.add('container_memory_usage_bytes', labels, usageBytes, at(timestamp));
    samples.add('container_memory_rss', labels, rssBytes, at(timestamp));
  }
}

function interfacesOf(network: NetworkUsage | undefined): readonly NetworkInterfaceUsage[] {
  if (!network) return [];
  const { defaultInterface, interfaces } = network;
  const others = interfaces.filter(({ name }) => name !== defaultInterface?.name);
  return defaultInterface ? [defaultInterface, ...others] : others;
}
