/** Conversion of API resources to cgroup settings. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { computeQosClass } from '@kruise/api/core/pod-qos';
import type { ResourceRequirements } from '@kruise/api/core/resources';
import { podLimits, podRequests } from '@kruise/machinery/pod-resources';
import { milliValue, parseQuantity, quantityValue } from '@kruise/values/quantity';
import type { LinuxContainerResources } from '../../cri/messages.ts';
import { isCriticalPod } from '../admission/critical.ts';
import { type CgroupDriver, podCgroupPath } from '../resources/cgroup-paths.ts';
import { hugePageResourceOf } from '../resources/huge-pages.ts';
import type { ActualResources } from '../runtime/runtime-pod.ts';

/** CFS quota period in microseconds. */
export const defaultCpuPeriod = 100_000;
const minShares = 2;
const maxShares = 262_144;
const minQuota = 1000;

export function sharesOf(milliCpu: number): number {
  if (milliCpu === 0) return minShares;
  return Math.min(maxShares, Math.max(minShares, Math.floor((milliCpu * 1024) / 1000)));
}

/** Converts CPU to a CFS quota; 0 means no quota. */
export function quotaOf(milliCpu: number, period: number = defaultCpuPeriod): number {
  return milliCpu === 0 ? 0 : Math.max(minQuota, Math.floor((milliCpu * period) / 1000));
}

const milli = (quantity: string | undefined) => (quantity === undefined ? 0 : milliValue(parseQuantity(quantity)));
const toNumber = (quantity: string | undefined) =>
  quantity === undefined ? 0 : quantityValue(parseQuantity(quantity));

/** Settings of the node that limits of containers depend on. */
export type ContainerLimitSettings = {
  /** True if the kernel uses the unified cgroup hierarchy (cgroup v2). */
  readonly hasUnifiedCgroups: boolean;
  /** Use of swap; absent if the kernel does not account swap by cgroup. */
  readonly swap?: SwapSettings;
  /** Limits of CPU time; enforced with the default period if absent. */
  readonly cpuQuota?: CpuQuotaSettings;
  /** Sizes of the huge pages that the node can limit, such as `2MB`. */
  readonly hugePageSizes?: readonly string[];
};

/** Swap that containers may use. */
export type SwapSettings = {
  /** `LimitedSwap` lets containers of Burstable Pods use swap in proportion to their memory requests. */
  readonly behavior: 'NoSwap' | 'LimitedSwap';
  readonly capacityBytes: number;
};

/** Enforcement of CPU limits. */
export type CpuQuotaSettings = { readonly isEnforced: boolean; readonly periodMicroseconds: number };

/** Returns the cgroup resources of a container. */
export function linuxResourcesOf(
  pod: Pod,
  container: Container,
  settings: ContainerLimitSettings & { readonly memoryCapacity: number },
): LinuxContainerResources {
  const { memoryCapacity, hasUnifiedCgroups, hugePageSizes } = settings;
  const resizable = resizableResources(container.resources ?? undefined, settings);
  const swapBytes = swapOf(pod, container, settings);
  const unified = {
    ...(hasUnifiedCgroups ? { 'memory.oom.group': '1' } : {}),
    ...(swapBytes === undefined ? {} : { 'memory.swap.max': String(swapBytes) }),
  };
  return {
    ...resizable,
    oomScoreAdj: oomScoreOf(pod, container, memoryCapacity),
    ...(hasUnifiedCgroups ? { unified } : {}),
    ...(hugePageSizes ? { hugepageLimits: hugePageLimitsOf(container, hugePageSizes) } : {}),
  };
}

function hugePageLimitsOf({ resources }: Container, sizes: readonly string[]) {
  return sizes.map((pageSize) => ({
    pageSize,
    limit: toNumber(resources?.limits?.[hugePageResourceOf(pageSize)]),
  }));
}

/** Returns how much swap a container may use under cgroup v2; undefined if swap is not limited. */
export function swapOf(
  pod: Pod,
  { resources }: Container,
  { swap, hasUnifiedCgroups, memoryCapacity }: ContainerLimitSettings & { readonly memoryCapacity: number },
): number | undefined {
  if (!swap || !hasUnifiedCgroups) return undefined;
  const request = toNumber(resources?.requests?.memory);
  const isExempt =
    swap.behavior === 'NoSwap' ||
    isCriticalPod(pod) ||
    (pod.status?.qosClass ?? (pod.spec ? computeQosClass(pod.spec) : 'BestEffort')) !== 'Burstable' ||
    request === toNumber(resources?.limits?.memory);
  return isExempt ? 0 : Math.floor((request / memoryCapacity) * swap.capacityBytes);
}

/** Returns the resources that can be changed while the container runs. */
export function resizableResources(
  resources: ResourceRequirements | undefined,
  { swap, hasUnifiedCgroups, cpuQuota }: ContainerLimitSettings,
): LinuxContainerResources {
  const { requests, limits } = resources ?? {};
  const limit = milli(limits?.cpu);
  // The request defaults to the limit unless the request is explicitly zero.
  const request = requests?.cpu === undefined ? limit : milli(requests.cpu);
  const memory = toNumber(limits?.memory);
  const cpuPeriod = cpuQuota?.periodMicroseconds ?? defaultCpuPeriod;
  const quota = cpuQuota?.isEnforced === false ? 0 : quotaOf(limit, cpuPeriod);
  return {
    cpuPeriod,
    ...(quota === 0 ? {} : { cpuQuota: quota }),
    cpuShares: sharesOf(request),
    ...(memory === 0 ? {} : { memoryLimitInBytes: memory }),
    // Under cgroup v1 the limit of memory and swap together: no swap.
    ...(memory === 0 || !swap || hasUnifiedCgroups ? {} : { memorySwapLimitInBytes: memory }),
  };
}

/** Converts the resources that the runtime reports to API units. */
export function actualResourcesOf(linux: LinuxContainerResources | undefined): ActualResources | undefined {
  if (!linux) return undefined;
  const { cpuShares = 0, cpuQuota = 0, cpuPeriod = 0, memoryLimitInBytes = 0 } = linux;
  return {
    ...(cpuShares > 0 ? { cpuRequestMilli: Math.ceil((cpuShares * 1000) / 1024) } : {}),
    ...(cpuQuota > 0 && cpuPeriod > 0 ? { cpuLimitMilli: Math.floor((cpuQuota * 1000) / cpuPeriod) } : {}),
    ...(memoryLimitInBytes > 0 ? { memoryLimitBytes: memoryLimitInBytes } : {}),
  };
}

/** Returns the OOM score adjustment: containers with a higher score are killed first. */
export function oomScoreOf(pod: Pod, container: Container, memoryCapacity: number): number {
  const { spec, status } = pod;
  if (isCriticalPod(pod) && spec?.priorityClassName === 'system-node-critical') return -997;
  const qosClass = status?.qosClass ?? (spec ? computeQosClass(spec) : 'BestEffort');
  if (qosClass === 'Guaranteed') return -997;
  if (qosClass === 'BestEffort') return 1000;
  const scoreFor = (request: number) => {
    const score = 1000 - Math.floor((1000 * request) / memoryCapacity);
    return score < 3 ? 3 : score === 1000 ? 999 : score;
  };
  const own = scoreFor(toNumber(container.resources?.requests?.memory));
  if (!spec?.initContainers?.some(({ name, restartPolicy }) => name === container.name && restartPolicy === 'Always')) {
    return own;
  }
  // A sidecar must not be killed before the containers it serves.
  const least = Math.min(...(spec.containers ?? []).map(({ resources }) => toNumber(resources?.requests?.memory)));
  return Math.min(own, scoreFor(least));
}

/** Returns the cgroup resources of all containers of a Pod, without the Pod overhead. */
export function podLinuxResources({ spec }: Pod): LinuxContainerResources {
  if (!spec) return {};
  const requests = podRequests(spec, { overhead: false });
  const limits = podLimits(spec, { overhead: false });
  const cpu = requests.get('cpu');
  const cpuLimit = limits.get('cpu');
  const memory = limits.get('memory');
  const quota = cpuLimit ? quotaOf(milliValue(cpuLimit)) : 0;
  return {
    cpuShares: sharesOf(cpu ? milliValue(cpu) : 0),
    ...(quota === 0 ? {} : { cpuPeriod: defaultCpuPeriod, cpuQuota: quota }),
    ...(memory ? { memoryLimitInBytes: quantityValue(memory) } : {}),
  };
}

/** Returns the parent cgroup of a Pod, below the root that separates several kubelets of one machine. */
export function cgroupParentOf({ metadata, spec, status }: Pod, driver: CgroupDriver, root: string = ''): string {
  const qosClass = status?.qosClass ?? (spec ? computeQosClass(spec) : 'BestEffort');
  return podCgroupPath({ driver, root }, qosClass, metadata.uid ?? '');
}
