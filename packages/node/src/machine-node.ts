/**
 * Node on the machine that the process runs on: a kubelet with a container runtime in another process, such as
 * containerd or CRI-O.
 */
import { readFileSync } from 'node:fs';
import { silentLog } from '@kruise/client/log';
import type { Clock } from '@kruise/values/clock';
import { every } from '@kruise/values/clock';
import { createGrpcRuntime, requireRuntime } from './cri/grpc/grpc-runtime.ts';
import type { NodeRuntime } from './cri/runtime.ts';
import type { NodeSettings } from './kubelet/containers/sandbox-config.ts';
import { type LogLimits, startLogRotation } from './kubelet/eviction/log-rotation.ts';
import { createKubelet, type Kubelet } from './kubelet/kubelet.ts';
import type { KubeletOptions } from './kubelet/kubelet-options.ts';
import {
  hasUnifiedCgroups,
  machineCapacity,
  machineDns,
  machineInfo,
  machineObservations,
} from './kubelet/node/machine.ts';
import { cgroupMounts, removePodCgroups } from './kubelet/node/pod-cgroups.ts';

/** Options of a node; those of the kubelet that describe the machine are determined here. */
export type MachineNodeOptions = Omit<
  KubeletOptions,
  'runtime' | 'capacity' | 'info' | 'settings' | 'supplies' | 'addresses'
> & {
  /** Endpoint of the container runtime. */
  readonly endpoint: string;
  /** IP address of the node. */
  readonly address: string;
  readonly maxPods: number;
  readonly logLimits: LogLimits;
  readonly settings: Pick<NodeSettings, 'rootDirectory' | 'clusterDns' | 'clusterDomain'> & Partial<NodeSettings>;
};

/** The kubelet of this machine and its runtime. */
export type MachineNode = { readonly kubelet: Kubelet; readonly runtime: NodeRuntime };

/** Interval at which the cgroups of deleted Pods are removed. */
const cgroupSweepMs = 5000;

/** Starts the kubelet of this machine. It runs until the signal is aborted; containers keep running. */
export async function startMachineNode(options: MachineNodeOptions, signal: AbortSignal): Promise<MachineNode> {
  const { endpoint, address, maxPods, logLimits, settings, ...rest } = options;
  const { clock, log = silentLog } = rest;
  const { rootDirectory } = settings;
  const runtime = createGrpcRuntime({ clock, endpoint, signal });
  await requireRuntime(runtime, endpoint);
  startLogRotation({ runtime, files: runtime.files, clock, log }, logLimits, signal);
  const kubelet = createKubelet(
    {
      ...rest,
      runtime,
      hasPlugins: true,
      addresses: [address],
      capacity: await machineCapacity(rootDirectory, maxPods),
      info: machineInfo(),
      settings: {
        hostDns: machineDns(),
        hasUnifiedCgroups: hasUnifiedCgroups(),
        cgroupDriver: await cgroupDriverOf(runtime),
        ...settings,
      },
      supplies: () => machineObservations(rootDirectory),
    },
    signal,
  );
  sweepCgroups(
    kubelet,
    settings.cgroupRoot ?? '',
    { clock, onError: (error) => log.warn({ error }, 'failed to remove Pod cgroups') },
    signal,
  );
  return { kubelet, runtime };
}

/** Returns the cgroup driver of the runtime. Runtimes that cannot be asked have it in their configuration. */
async function cgroupDriverOf(runtime: NodeRuntime): Promise<NodeSettings['cgroupDriver']> {
  const { linux } = await runtime.runtimeConfig({}).catch(() => ({ linux: undefined }));
  if (linux?.cgroupDriver) return linux.cgroupDriver;
  const { info = {} } = await runtime.status({ verbose: true });
  return usesSystemdCgroups(info['config'] ?? '{}') ? 'SYSTEMD' : 'CGROUPFS';
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
function sweepCgroups(kubelet: Kubelet, root: string, { clock, onError }: SweepContext, signal: AbortSignal): void {
  const sweep = async () => {
    // Until the Pods are known, none may be taken for deleted.
    if (kubelet.node() === undefined) return;
    const known = new Set(kubelet.workers().map(({ uid }) => uid));
    await removePodCgroups(cgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8')), root, (uid) => known.has(uid));
  };
  every(clock, cgroupSweepMs, () => void sweep().catch(onError), signal);
}
