/**
 * Cgroups of a node's Pods: one for all Pods, one for each QoS class, and one for each Pod. The kernel shares CPU time
 * between them by their requests and enforces their limits; the cgroups of containers are below, made by the runtime.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { Log } from '@kruise/client/log';
import type { ResourceList } from '@kruise/machinery/resource-list';
import { type Clock, every } from '@kruise/values/clock';
import { sharesOf } from '../containers/linux-resources.ts';
import type { Cgroups } from './cgroup-hierarchies.ts';
import {
  type CgroupLimits,
  cpuRequestOf,
  largerLimits,
  minCpuShares,
  nodeCgroupLimits,
  type PodLimitSettings,
  podCgroupLimits,
  qosClassOf,
  reservedCgroupLimits,
} from './cgroup-limits.ts';
import { type CgroupPlace, cgroupPath, podCgroupPath, podUidOf, qosTiers, tierPath } from './cgroup-paths.ts';

/** Resources that `enforceNodeAllocatable` may name. */
export type AllocatableEnforcement = 'pods' | 'system-reserved' | 'kube-reserved';

/** Settings of the cgroups of a node. */
export type PodCgroupSettings = {
  readonly place: CgroupPlace;
  readonly limits: PodLimitSettings;
  /** Resources of the machine; `pid` is the number of processes. */
  readonly capacity: ResourceList;
  readonly enforced: ReadonlySet<AllocatableEnforcement>;
  readonly kubeReserved: ResourceList;
  readonly systemReserved: ResourceList;
  /** Cgroups of the services that the reserved resources are for. They must exist. */
  readonly kubeReservedCgroup?: string;
  readonly systemReservedCgroup?: string;
};

/** Records an event of the node. */
export type RecordNodeEvent = (type: 'Normal' | 'Warning', reason: string, message: string) => void;

/** Cgroups of the Pods of a node. */
export type PodCgroups = {
  /** Creates the cgroups of all Pods and of the QoS classes. */
  create(): Promise<void>;
  /** Limits all Pods to the allocatable resources, and retries while the kernel refuses that. */
  enforceAllocatable(record: RecordNodeEvent, signal: AbortSignal): Promise<void>;
  /** Reports whether the Pod has its cgroup. */
  exists(pod: Pod): Promise<boolean>;
  /** Creates the cgroup of a Pod, or raises its limits for containers that grow. */
  prepare(pod: Pod): Promise<void>;
  /** Lowers the limits of a Pod whose containers have shrunk. */
  settle(pod: Pod): Promise<void>;
  /** Removes the cgroup of a Pod without containers, with the processes that are left in it. */
  remove(pod: Pod): Promise<void>;
  /** Removes the cgroups of unknown Pods, unless processes are in them. */
  removeOrphans(isKnown: (uid: string) => boolean): Promise<void>;
};

/** Dependencies of the cgroups of a node. */
export type PodCgroupContext = { readonly cgroups: Cgroups; readonly clock: Clock; readonly log: Log };

const podsMessage = 'Updated Node Allocatable limit across pods';
const enforcementRetryMs = 60_000;

/** Returns the cgroups of a node. */
export function createPodCgroups({ cgroups, clock, log }: PodCgroupContext, settings: PodCgroupSettings): PodCgroups {
  const { place, enforced } = settings;
  const all = cgroupPath(place, ['kubepods']);
  const burstable = tierPath(place, 'Burstable');
  /** CPU requests of the Burstable Pods in millicores. */
  const requests = new Map<string, number>();
  /** Limits that were last written, by the UID of the Pod. */
  const written = new Map<string, CgroupLimits>();
  let burstableShares: number | undefined;
  let lastUpdate = Promise.resolve();

  const pathOf = (pod: Pod) => podCgroupPath(place, qosClassOf(pod), pod.metadata.uid ?? '');

  /** Burstable Pods together weigh what they request, against Guaranteed Pods and BestEffort Pods. */
  async function writeBurstable(): Promise<void> {
    let total = 0;
    for (const each of requests.values()) total += each;
    const cpuShares = sharesOf(total);
    if (cpuShares === burstableShares) return;
    await cgroups.setLimits(burstable, { cpuShares });
    burstableShares = cpuShares;
  }

  /** One write at a time: an older sum must not replace a newer one. */
  function updateBurstable(): Promise<void> {
    const update = lastUpdate.then(writeBurstable);
    // The error is of the Pod whose update failed.
    lastUpdate = update.catch(() => {});
    return update;
  }

  async function write(pod: Pod, limits: CgroupLimits): Promise<void> {
    const uid = pod.metadata.uid ?? '';
    if (isSameLimits(written.get(uid), limits)) return;
    await cgroups.setLimits(pathOf(pod), limits);
    written.set(uid, limits);
  }

  const allPodsLimits = () =>
    nodeCgroupLimits(settings.capacity, enforced.has('pods') ? [settings.kubeReserved, settings.systemReserved] : []);

  return {
    async create() {
      const hadTiers = await cgroups.exists(burstable);
      for (const tier of qosTiers) await cgroups.create(tierPath(place, tier));
      await cgroups.setLimits(tierPath(place, 'BestEffort'), { cpuShares: minCpuShares });
      // After a restart the running Pods keep their share until the kubelet knows them.
      if (!hadTiers) await cgroups.setLimits(burstable, { cpuShares: minCpuShares });
      // The memory limit follows later: the kernel refuses one below the usage, which ends no kubelet.
      const { memoryBytes: _, ...limits } = allPodsLimits();
      await cgroups.setLimits(all, limits);
    },
    async enforceAllocatable(record, signal) {
      const pending = new Map<string, () => Promise<void>>();
      pending.set(podsMessage, () => cgroups.setLimits(all, allPodsLimits()));
      for (const [name, path, reserved] of [
        ['system', settings.systemReservedCgroup, settings.systemReserved],
        ['kube', settings.kubeReservedCgroup, settings.kubeReserved],
      ] as const) {
        if (!enforced.has(`${name}-reserved`) || path === undefined) continue;
        pending.set(`Updated limits on ${name} reserved cgroup ${path}`, () =>
          cgroups.setLimits(path, reservedCgroupLimits(reserved)),
        );
      }
      const enforce = async () => {
        for (const [message, apply] of pending) {
          try {
            await apply();
            pending.delete(message);
            if (enforced.has('pods') || message !== podsMessage) record('Normal', 'NodeAllocatableEnforced', message);
          } catch (error) {
            const reason = error instanceof Error ? error.message : String(error);
            record(
              'Warning',
              'FailedNodeAllocatableEnforcement',
              `Failed to update Node Allocatable Limits ${JSON.stringify(all)}: ${reason}`,
            );
            log.warn({ error }, 'failed to enforce node allocatable');
          }
        }
      };
      await enforce();
      if (pending.size === 0 || signal.aborted) return;
      const retries = new AbortController();
      every(
        clock,
        enforcementRetryMs,
        () => void enforce().then(() => pending.size === 0 && retries.abort()),
        AbortSignal.any([signal, retries.signal]),
      );
    },
    exists: (pod) => cgroups.exists(pathOf(pod)),
    async prepare(pod) {
      const uid = pod.metadata.uid ?? '';
      const path = pathOf(pod);
      if (qosClassOf(pod) === 'Burstable') {
        requests.set(uid, cpuRequestOf(pod));
        await updateBurstable();
      }
      const wanted = podCgroupLimits(pod, settings.limits);
      if (!(await cgroups.exists(path))) {
        written.delete(uid);
        await cgroups.create(path);
        await write(pod, wanted);
        return;
      }
      // A previous kubelet may have left larger containers behind.
      const current = written.get(uid) ?? (await cgroups.readLimits(path));
      await write(pod, largerLimits(current, wanted));
    },
    settle: (pod) => write(pod, podCgroupLimits(pod, settings.limits)),
    async remove(pod) {
      const uid = pod.metadata.uid ?? '';
      await cgroups.remove(pathOf(pod));
      written.delete(uid);
      if (requests.delete(uid)) await updateBurstable();
    },
    async removeOrphans(isKnown) {
      for (const tier of ['Guaranteed', ...qosTiers] as const) {
        const parent = tierPath(place, tier);
        for (const name of await cgroups.children(parent)) {
          const uid = podUidOf(name);
          if (uid !== undefined && !isKnown(uid)) await cgroups.removeEmpty(`${parent}/${name}`);
        }
      }
    },
  };
}

function isSameLimits(one: CgroupLimits | undefined, other: CgroupLimits): boolean {
  return (
    one !== undefined &&
    one.cpuShares === other.cpuShares &&
    one.cpuQuotaMicroseconds === other.cpuQuotaMicroseconds &&
    one.memoryBytes === other.memoryBytes &&
    one.pids === other.pids
  );
}
