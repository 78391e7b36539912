/**
 * Node on the machine that the process runs on: a kubelet with a container runtime in another process, such as
 * containerd or CRI-O.
 */
import { existsSync } from 'node:fs';
import { type Log, silentLog } from '@kruise/client/log';
import type { ResourceList } from '@kruise/machinery/resource-list';
import type { Clock } from '@kruise/values/clock';
import { every } from '@kruise/values/clock';
import { createGrpcRuntime, requireRuntime } from './cri/grpc/grpc-runtime.ts';
import type { NodeRuntime } from './cri/runtime.ts';
import { type CpuQuotaSettings, defaultCpuPeriod, type SwapSettings } from './kubelet/containers/linux-resources.ts';
import type { NodeSettings } from './kubelet/containers/sandbox-config.ts';
import { machineDockerConfig } from './kubelet/credentials/docker-config.ts';
import { type LogLimits, startLogRotation } from './kubelet/eviction/log-rotation.ts';
import { createKubelet, type Kubelet } from './kubelet/kubelet.ts';
import type { KubeletOptions } from './kubelet/kubelet-options.ts';
import {
  hasUnifiedCgroups,
  machineCapacity,
  machineDns,
  machineInfo,
  machineObservations,
  machinePids,
  machineSwap,
} from './kubelet/node/machine.ts';
import { pageSizeOf } from './kubelet/resources/huge-pages.ts';
import { hasSwapAccounting, machineCgroups } from './kubelet/resources/machine-cgroups.ts';
import { type AllocatableEnforcement, createPodCgroups, type PodCgroups } from './kubelet/resources/pod-cgroups.ts';

/** Options of a node; those of the kubelet that describe the machine are determined here. */
export type MachineNodeOptions = Omit<
  KubeletOptions,
  'runtime' | 'capacity' | 'info' | 'settings' | 'supplies' | 'addresses' | 'cgroups'
> & {
  /** Endpoint of the container runtime. */
  readonly endpoint: string;
  /** IP address of the node. */
  readonly address: string;
  readonly maxPods: number;
  readonly logLimits: LogLimits;
  readonly settings: Pick<NodeSettings, 'rootDirectory' | 'clusterDns' | 'clusterDomain'> & Partial<NodeSettings>;
  readonly resources?: ResourceSettings;
};

/** Shares and limits of the resources of the machine, with the defaults of Kubernetes. */
export type ResourceSettings = {
  readonly cgroupsPerQos?: boolean;
  /** Cgroup driver of a runtime that does not report its own. */
  readonly cgroupDriver?: NodeSettings['cgroupDriver'];
  readonly enforceNodeAllocatable?: ReadonlySet<AllocatableEnforcement>;
  readonly kubeReserved?: ResourceList;
  readonly systemReserved?: ResourceList;
  readonly kubeReservedCgroup?: string;
  readonly systemReservedCgroup?: string;
  /** Maximum number of processes of a Pod; no limit if absent. */
  readonly podPidsLimit?: number;
  readonly cpuQuota?: CpuQuotaSettings;
  readonly swapBehavior?: SwapSettings['behavior'];
};

/** The kubelet of this machine and its runtime. */
export type MachineNode = { readonly kubelet: Kubelet; readonly runtime: NodeRuntime };

/** Interval at which the cgroups of deleted Pods are removed. */
const cgroupSweepMs = 5000;

/** Starts the kubelet of this machine. It runs until the signal is aborted; containers keep running. */
export async function startMachineNode(options: MachineNodeOptions, signal: AbortSignal): Promise<MachineNode> {
  const { endpoint, address, maxPods, logLimits, settings: given, resources = {}, ...rest } = options;
  const { clock, log = silentLog } = rest;
  const { rootDirectory } = given;
  const runtime = createGrpcRuntime({ clock, endpoint, signal });
  await requireRuntime(runtime, endpoint);
  startLogRotation({ runtime, files: runtime.files, clock, log }, logLimits, signal);
  const capacity = await machineCapacity(rootDirectory, maxPods);
  const { cpuQuota, cgroupsPerQos = true } = resources;
  const settings = {
    hostDns: machineDns(),
    hasUnifiedCgroups: hasUnifiedCgroups(),
    cgroupDriver: await cgroupDriverOf(runtime, resources.cgroupDriver),
    cgroupsPerQos,
    ...(cpuQuota ? { cpuQuota } : {}),
    ...(hasSwapAccounting()
      ? { swap: { behavior: resources.swapBehavior ?? 'NoSwap', capacityBytes: machineSwap() } }
      : {}),
    hugePageSizes: Object.keys(capacity).flatMap((name) => pageSizeOf(name) ?? []),
    ...given,
  } as const;
  const cgroups = cgroupsPerQos ? podCgroupsOf({ clock, log, capacity, settings }, resources) : undefined;
  await cgroups?.create();
  const kubelet = createKubelet(
    {
      ...rest,
      runtime,
      dockerConfig: machineDockerConfig(process.cwd(), process.env),
      hasPlugins: true,
      addresses: [address],
      capacity,
      info: machineInfo(),
      settings,
      ...(cgroups ? { cgroups } : {}),
      supplies: () => machineObservations(rootDirectory),
    },
    signal,
  );
  const onError = (error: unknown) => log.warn({ error }, 'failed to remove Pod cgroups');
  if (cgroups) sweepCgroups(kubelet, cgroups, { clock, onError }, signal);
  return { kubelet, runtime };
}

type CgroupInputs = {
  readonly clock: Clock;
  readonly log: Log;
  readonly capacity: ResourceList;
  readonly settings: Pick<NodeSettings, 'cgroupDriver' | 'cgroupRoot' | 'cpuQuota' | 'hugePageSizes'>;
};

/** Returns the cgroups of the Pods of this machine. */
function podCgroupsOf({ clock, log, capacity, settings }: CgroupInputs, resources: ResourceSettings): PodCgroups {
  const { cgroupDriver: driver, cgroupRoot: root = '', cpuQuota, hugePageSizes = [] } = settings;
  const { kubeReservedCgroup, systemReservedCgroup } = resources;
  if (driver === 'SYSTEMD' && existsSync(systemdDirectory)) {
    log.warn({}, 'systemd may reset the limits of pod slices: the kubelet writes them without D-Bus');
  }
  return createPodCgroups(
    { cgroups: machineCgroups(clock), clock, log },
    {
      place: { driver, root },
      limits: {
        enforcesCpuLimits: cpuQuota?.isEnforced ?? true,
        cpuPeriodMicroseconds: cpuQuota?.periodMicroseconds ?? defaultCpuPeriod,
        maxPids: resources.podPidsLimit ?? Number.POSITIVE_INFINITY,
        hugePageSizes,
      },
      capacity: { ...capacity, pid: String(machinePids()) },
      enforced: resources.enforceNodeAllocatable ?? new Set(['pods']),
      kubeReserved: resources.kubeReserved ?? {},
      systemReserved: resources.systemReserved ?? {},
      ...(kubeReservedCgroup === undefined ? {} : { kubeReservedCgroup }),
      ...(systemReservedCgroup === undefined ? {} : { systemReservedCgroup }),
    },
  );
}

/** Exists if systemd manages the machine. */
const systemdDirectory = '/run/systemd/system';

/** Returns the cgroup driver of the runtime: the runtime's answer, its configuration, or else the configured driver. */
async function cgroupDriverOf(
  runtime: NodeRuntime,
  configured: NodeSettings['cgroupDriver'] = 'CGROUPFS',
): Promise<NodeSettings['cgroupDriver']> {
  const { linux } = await runtime.runtimeConfig({}).catch(() => ({ linux: undefined }));
  if (linux?.cgroupDriver) return linux.cgroupDriver;
  const { info = {} } = await runtime.status({ verbose: true });
  const configuration = info['config'];
  if (configuration === undefined) return configured;
  return usesSystemdCgroups(configuration) ? 'SYSTEMD' : 'CGROUPFS';
}

/** Reports whether the configuration of containerd's CRI plugin names the systemd cgroup driver. */
export function usesSystemdCgroups(configuration: string): boolean {
  const { containerd, systemdCgroup } = JSON.parse(configuration);
  const runtimes = containerd?.runtimes ?? {};
  const { options } = runtimes[containerd?.defaultRuntimeName ?? 'runc'] ?? {};
  return systemdCgroup === true || options?.SystemdCgroup === true;
}

type SweepContext = { readonly clock: Clock; readonly onError: (error: unknown) => void };

/** Removes the cgroups of deleted Pods periodically. */
function sweepCgroups(
  kubelet: Kubelet,
  cgroups: PodCgroups,
  { clock, onError }: SweepContext,
  signal: AbortSignal,
): void {
  const sweep = async () => {
    // Until the Pods are known, none may be taken for deleted.
    if (kubelet.node() === undefined) return;
    const known = new Set(kubelet.workers().map(({ uid }) => uid));
    await cgroups.removeOrphans((uid) => known.has(uid));
  };
  every(clock, cgroupSweepMs, () => void sweep().catch(onError), signal);
}
