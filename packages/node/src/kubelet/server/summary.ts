/** Resource usage summary of `/stats/summary`. */
import type { Volume } from '@kruise/api/core/volume';
import { formatTime } from '@kruise/values/time';
import type {
  ContainerStats,
  CpuUsage,
  FilesystemUsage,
  MemoryUsage,
  NetworkUsage,
  PodSandboxStats,
  SwapUsage,
} from '../../cri/messages.ts';
import { instantOfNanoseconds } from '../../cri/nanoseconds.ts';
import { logDirectoryOf, podUidLabel } from '../containers/sandbox-config.ts';
import type { PodWorker } from '../pods/pod-worker.ts';
import { newestOf } from '../runtime/runtime-pod.ts';
import type { KubeletView } from './view.ts';

/** Capacity and free space of a disk. */
type Disk = {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly inodes?: number;
  readonly inodesFree?: number;
};

type SummaryContext = { readonly view: KubeletView; readonly time: string; readonly disk: Disk };

/** Returns the usage of a node and its Pods; only CPU and memory if `isShort` is set. */
export async function summaryOf(view: KubeletView, onlyCpuAndMemory: boolean): Promise<object> {
  const { stats } = await view.runtime.listPodSandboxStats({});
  const time = formatTime(view.clock.now());
  const total = totalOf(stats);
  const cpu = { time, usageNanoCores: total.nanoCores, usageCoreNanoSeconds: total.coreNanoSeconds };
  const memory = {
    time,
    availableBytes: Math.max(0, view.machine.memoryBytes - total.memoryBytes),
    usageBytes: total.memoryBytes,
    workingSetBytes: total.memoryBytes,
    rssBytes: total.memoryBytes,
    pageFaults: 0,
    majorPageFaults: 0,
  };
  const node = { nodeName: view.nodeName, startTime: formatTime(view.startedAt), cpu, memory };
  const byUid = new Map(stats.map((each) => [each.attributes.labels[podUidLabel] ?? '', each]));
  const found = view.workers().flatMap((worker) => {
    const own = byUid.get(worker.uid);
    return own ? [{ worker, stats: own }] : [];
  });
  if (onlyCpuAndMemory) return { node, pods: found.map((each) => usageOfPod(each.worker, each.stats)) };

  const context: SummaryContext = { view, time, disk: await diskOf(view, total.diskBytes) };
  const { imageFilesystems, containerFilesystems } = await view.runtime.imageFsInfo({});
  const podCgroup = { name: 'pods', startTime: node.startTime, cpu, memory };
  return {
    node: {
      ...node,
      fs: filesystem(context, context.disk.capacityBytes - context.disk.availableBytes),
      network: { time, ...total.network, interfaces: [total.network] },
      runtime: {
        imageFs: filesystem(context, imageFilesystems[0]?.usedBytes, imageFilesystems[0]?.inodesUsed),
        containerFs: filesystem(context, containerFilesystems[0]?.usedBytes, containerFilesystems[0]?.inodesUsed),
      },
      rlimit: { time, curproc: total.processCount },
      swap: { time, swapAvailableBytes: 0, swapUsageBytes: total.swapBytes },
      systemContainers: [podCgroup],
    },
    pods: await Promise.all(found.map((each) => fullPodUsage(context, each.worker, each.stats))),
  };
}

/** Returns the total usage of all Pods. */
export function totalOf(stats: readonly PodSandboxStats[]) {
  const network = { name: 'eth0', rxBytes: 0, rxErrors: 0, txBytes: 0, txErrors: 0 };
  const total = { nanoCores: 0, coreNanoSeconds: 0, memoryBytes: 0, swapBytes: 0, diskBytes: 0, processCount: 0 };
  for (const { linux } of stats) {
    for (const { cpu, memory, swap, writableLayer } of linux?.containers ?? []) {
      total.nanoCores += cpu?.usageNanoCores ?? 0;
      total.coreNanoSeconds += cpu?.usageCoreNanoSeconds ?? 0;
      total.memoryBytes += memory?.workingSetBytes ?? 0;
      total.swapBytes += swap?.swapUsageBytes ?? 0;
      total.diskBytes += writableLayer?.usedBytes ?? 0;
    }
    total.processCount += linux?.process?.processCount ?? 0;
    const { rxBytes = 0, rxErrors = 0, txBytes = 0, txErrors = 0 } = linux?.network?.defaultInterface ?? {};
    network.rxBytes += rxBytes;
    network.rxErrors += rxErrors;
    network.txBytes += txBytes;
    network.txErrors += txErrors;
  }
  return { ...total, network };
}

async function diskOf({ machine }: KubeletView, usedBytes: number): Promise<Disk> {
  const observations = await machine.supplies?.();
  const space = observations?.['nodefs.available'];
  const files = observations?.['nodefs.inodesFree'];
  return {
    capacityBytes: space?.capacity ?? machine.diskBytes,
    availableBytes: space?.available ?? Math.max(0, machine.diskBytes - usedBytes),
    ...(files ? { inodes: files.capacity, inodesFree: files.available } : {}),
  };
}

/** Returns the CPU and memory usage of a Pod. */
function usageOfPod(worker: PodWorker, { linux }: PodSandboxStats) {
  const { name, namespace, uid } = worker.pod().metadata;
  return {
    podRef: { name, namespace, uid },
    startTime: worker.status().startTime,
    containers: (linux?.containers ?? []).map((each) => usageOfContainer(worker, each)),
    ...(linux?.cpu ? { cpu: cpuOf(linux.cpu) } : {}),
    ...(linux?.memory ? { memory: memoryOf(linux.memory) } : {}),
  };
}

function usageOfContainer(worker: PodWorker, { attributes, cpu, memory, swap }: ContainerStats) {
  const { name } = attributes.metadata;
  const startedAt = newestOf(worker.runtimePod(), name)?.startedAt;
  return {
    name,
    ...(startedAt === undefined ? {} : { startTime: formatTime(startedAt) }),
    ...(cpu ? { cpu: cpuOf(cpu) } : {}),
    ...(memory ? { memory: memoryOf(memory) } : {}),
    ...(swap ? { swap: swapOf(swap) } : {}),
  };
}

async function fullPodUsage(context: SummaryContext, worker: PodWorker, stats: PodSandboxStats): Promise<object> {
  const { linux } = stats;
  const usage = usageOfPod(worker, stats);
  const volumes = await volumesOf(context, worker);
  const swaps = (linux?.containers ?? []).flatMap(({ swap }) => swap ?? []);
  let usedBytes = 0;
  for (const { isLocal, bytes } of volumes) if (isLocal) usedBytes += bytes;
  const containers: object[] = [];
  for (const [index, each] of (linux?.containers ?? []).entries()) {
    const logBytes = await logBytesOf(context, worker, each);
    const rootBytes = each.writableLayer?.usedBytes ?? 0;
    usedBytes += logBytes + rootBytes;
    containers.push({
      ...usage.containers[index],
      rootfs: filesystem(context, rootBytes, each.writableLayer?.inodesUsed),
      logs: filesystem(context, logBytes),
    });
  }
  return {
    ...usage,
    containers,
    ...(linux?.network ? { network: networkOf(linux.network) } : {}),
    ...(volumes.length > 0 ? { volume: volumes.map(({ shown }) => shown) } : {}),
    'ephemeral-storage': filesystem(context, usedBytes),
    ...(linux?.process ? { process_stats: { process_count: linux.process.processCount ?? 0 } } : {}),
    ...(swaps[0]
      ? {
          swap: swapOf({
            ...swaps[0],
            swapUsageBytes: swaps.reduce((sum, each) => sum + (each.swapUsageBytes ?? 0), 0),
          }),
        }
      : {}),
  };
}

async function logBytesOf(
  { view }: SummaryContext,
  worker: PodWorker,
  { attributes }: ContainerStats,
): Promise<number> {
  const path = `${logDirectoryOf(worker.pod(), view.settings)}/${attributes.metadata.name}`;
  return (await bytesBelow(view, path)).bytes;
}

async function bytesBelow({ runtime }: KubeletView, path: string) {
  return (await runtime.files.stat(path)) ? runtime.files.usage(path) : { bytes: 0, inodes: 0 };
}

/** Returns the usage of each volume and whether the volume is on the node's disk. */
async function volumesOf(context: SummaryContext, worker: PodWorker) {
  const { namespace } = worker.pod().metadata;
  const found: { readonly shown: object; readonly isLocal: boolean; readonly bytes: number }[] = [];
  for (const volume of worker.pod().spec?.volumes ?? []) {
    const mounted = worker.volumes().get(volume.name);
    // The usage of a hostPath volume cannot be attributed to the Pod.
    if (!mounted || volume.hostPath) continue;
    const pvcName = persistentVolumeClaimOf(worker, volume);
    const reference = pvcName === undefined ? {} : { pvcRef: { name: pvcName, namespace } };
    const reported = await context.view.volumeStats?.(mounted.path);
    if (reported) {
      // The space of a driver's volume is not the node's.
      found.push({
        shown: { time: context.time, ...reported, name: volume.name, ...reference },
        isLocal: false,
        bytes: 0,
      });
      continue;
    }
    const { bytes, inodes } = await bytesBelow(context.view, mounted.path);
    const shown = { ...filesystem(context, bytes, inodes), name: volume.name, ...reference };
    found.push({ shown, isLocal: pvcName === undefined, bytes });
  }
  return found;
}

function persistentVolumeClaimOf(
  worker: PodWorker,
  { name, persistentVolumeClaim, ephemeral }: Volume,
): string | undefined {
  if (persistentVolumeClaim) return persistentVolumeClaim.claimName;
  return ephemeral ? `${worker.pod().metadata.name}-${name}` : undefined;
}

function cpuOf({ timestamp, usageNanoCores, usageCoreNanoSeconds }: CpuUsage) {
  return { time: timeOf(timestamp), usageNanoCores, usageCoreNanoSeconds };
}

function memoryOf({ timestamp, psi: _, ...usage }: MemoryUsage) {
  return { time: timeOf(timestamp), ...usage };
}

function swapOf({ timestamp, swapAvailableBytes, swapUsageBytes }: SwapUsage) {
  return { time: timeOf(timestamp), swapAvailableBytes, swapUsageBytes };
}

function networkOf({ timestamp, defaultInterface, interfaces }: NetworkUsage) {
  return { time: timeOf(timestamp), ...defaultInterface, interfaces };
}

function filesystem({ time, disk }: SummaryContext, usedBytes: FilesystemUsage['usedBytes'], inodesUsed?: number) {
  return { time, ...disk, usedBytes: usedBytes ?? 0, ...(inodesUsed === undefined ? {} : { inodesUsed }) };
}

function timeOf(nanoseconds: bigint): string {
  return formatTime(instantOfNanoseconds(nanoseconds));
}
