/** What Pods use, as metrics-server scrapes it: `/metrics/resource`. Samples carry the time they were taken at. */
import { instantOfNanoseconds } from '../../cri/nanoseconds.ts';
import { newestOf } from '../runtime-pod.ts';
import { podUidLabel } from '../sandbox-config.ts';
import { totalOf } from './summary.ts';
import type { KubeletView } from './view.ts';

type Family = { readonly help: string; readonly type: 'counter' | 'gauge'; readonly lines: string[] };

const help: { readonly [name: string]: readonly ['counter' | 'gauge', string] } = {
  container_cpu_usage_seconds_total: [
    'counter',
    '[STABLE] Cumulative cpu time consumed by the container in core-seconds',
  ],
  container_memory_working_set_bytes: ['gauge', '[STABLE] Current working set of the container in bytes'],
  container_start_time_seconds: ['gauge', '[STABLE] Start time of the container since unix epoch in seconds'],
  node_cpu_usage_seconds_total: ['counter', '[STABLE] Cumulative cpu time consumed by the node in core-seconds'],
  node_memory_working_set_bytes: ['gauge', '[STABLE] Current working set of the node in bytes'],
  pod_cpu_usage_seconds_total: ['counter', '[STABLE] Cumulative cpu time consumed by the pod in core-seconds'],
  pod_memory_working_set_bytes: ['gauge', '[STABLE] Current working set of the pod in bytes'],
  resource_scrape_error: ['gauge', '[STABLE] 1 if there was an error while getting container metrics, 0 otherwise'],
};

/** The text of the resource metrics. */
export async function resourceMetrics(view: KubeletView): Promise<string> {
  const families = new Map<string, Family>();
  const add = (name: string, labels: { readonly [label: string]: string }, value: number, atMs?: number) => {
    const [type, text] = help[name]!;
    const family = families.get(name) ?? { help: text, type, lines: [] };
    families.set(name, family);
    const shown = Object.entries(labels).map(([label, each]) => `${label}=${JSON.stringify(each)}`);
    const at = atMs === undefined ? '' : ` ${Math.floor(atMs)}`;
    family.lines.push(`${name}${shown.length === 0 ? '' : `{${shown.join(',')}}`} ${value}${at}`);
  };

  const { stats } = await view.runtime.listPodSandboxStats({});
  const workers = new Map(view.workers().map((worker) => [worker.uid, worker]));
  for (const { attributes, linux } of stats) {
    const worker = workers.get(attributes.labels[podUidLabel] ?? '');
    if (!worker) continue;
    const { name: pod, namespace } = attributes.metadata;
    for (const { attributes: each, cpu, memory } of linux?.containers ?? []) {
      const labels = { container: each.metadata.name, namespace, pod };
      const startedAt = newestOf(worker.runtimePod(), each.metadata.name)?.startedAt;
      if (cpu)
        add(
          'container_cpu_usage_seconds_total',
          labels,
          (cpu.usageCoreNanoSeconds ?? 0) / 1e9,
          instantOfNanoseconds(cpu.timestamp),
        );
      if (memory)
        add(
          'container_memory_working_set_bytes',
          labels,
          memory.workingSetBytes ?? 0,
          instantOfNanoseconds(memory.timestamp),
        );
      if (startedAt !== undefined) add('container_start_time_seconds', labels, startedAt / 1000);
    }
    const { cpu, memory } = linux ?? {};
    if (cpu)
      add(
        'pod_cpu_usage_seconds_total',
        { namespace, pod },
        (cpu.usageCoreNanoSeconds ?? 0) / 1e9,
        instantOfNanoseconds(cpu.timestamp),
      );
    if (memory)
      add(
        'pod_memory_working_set_bytes',
        { namespace, pod },
        memory.workingSetBytes ?? 0,
        instantOfNanoseconds(memory.timestamp),
      );
  }
  const total = totalOf(stats);
  add('node_cpu_usage_seconds_total', {}, total.coreNanoSeconds / 1e9, view.clock.now());
  add('node_memory_working_set_bytes', {}, total.memoryBytes, view.clock.now());
  add('resource_scrape_error', {}, 0);
  return [...families]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, { help: text, type, lines }]) => `# HELP ${name} ${text}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`,
    )
    .join('');
}
