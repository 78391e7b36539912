/**
 * Limits of cgroups: the pure part. Computes the limits of a Pod, of the QoS classes and of all Pods together, and the
 * files of either cgroup version that hold the limits.
 */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { computeQosClass, type QosClass } from '@kruise/api/core/pod-qos';
import { podLimits, podRequests } from '@kruise/machinery/pod-resources';
import type { ResourceList } from '@kruise/machinery/resource-list';
import { addQuantities, milliValue, parseQuantity, type Quantity, quantityValue } from '@kruise/values/quantity';
import { quotaOf, sharesOf } from '../containers/linux-resources.ts';
import { hugePageResourceOf, pageSizeOf } from './huge-pages.ts';

/** Limits of a cgroup. An absent limit is left as it is; infinity removes a limit. */
export type CgroupLimits = {
  /** Weight of the CPU time, in the units of cgroup v1. */
  readonly cpuShares?: number;
  /** CPU time per period. */
  readonly cpuQuotaMicroseconds?: number;
  readonly cpuPeriodMicroseconds?: number;
  readonly memoryBytes?: number;
  readonly pids?: number;
  /** Huge pages in bytes by page size, such as `2MB`. */
  readonly hugePages?: { readonly [pageSize: string]: number };
};

/** Settings of the node that limits of Pods depend on. */
export type PodLimitSettings = {
  /** False if CPU limits are not enforced. */
  readonly enforcesCpuLimits: boolean;
  readonly cpuPeriodMicroseconds: number;
  /** Maximum number of processes of a Pod; infinity if there is none. */
  readonly maxPids: number;
  /** Page sizes of the node, such as `2MB`. */
  readonly hugePageSizes: readonly string[];
};

/** CPU shares of a cgroup that requests nothing, which is what the kernel permits at least. */
export const minCpuShares = 2;

/** Returns the QoS class of a Pod. */
export function qosClassOf({ spec, status }: Pod): QosClass {
  return status?.qosClass ?? (spec ? computeQosClass(spec) : 'BestEffort');
}

/**
 * Returns the limits of a Pod's cgroup. A limit that one of the containers lacks does not limit the Pod, unless the Pod
 * itself has it.
 */
export function podCgroupLimits(pod: Pod, settings: PodLimitSettings): CgroupLimits {
  const { spec } = pod;
  const { cpuPeriodMicroseconds, enforcesCpuLimits, maxPids } = settings;
  const own = spec?.resources;
  const requests = withPodLevel(spec ? podRequests(spec) : new Map(), own?.requests, spec?.overhead);
  const limits = withPodLevel(spec ? podLimits(spec) : new Map(), own?.limits, spec?.overhead);
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const isLimited = (name: 'cpu' | 'memory') =>
    own?.limits?.[name] !== undefined || all.every((container) => hasLimit(container, name));
  const isBestEffort = qosClassOf(pod) === 'BestEffort';
  const cpu = milliOf(limits.get('cpu'));
  const memory = bytesOf(limits.get('memory'));
  return {
    cpuShares: isBestEffort ? minCpuShares : sharesOf(milliOf(requests.get('cpu') ?? limits.get('cpu'))),
    cpuPeriodMicroseconds,
    cpuQuotaMicroseconds:
      enforcesCpuLimits && isLimited('cpu') && cpu > 0 ? quotaOf(cpu, cpuPeriodMicroseconds) : Number.POSITIVE_INFINITY,
    memoryBytes: isLimited('memory') && memory > 0 ? memory : Number.POSITIVE_INFINITY,
    pids: maxPids,
    hugePages: Object.fromEntries(
      settings.hugePageSizes.map((size) => [size, bytesOf(limits.get(hugePageResourceOf(size)))]),
    ),
  };
}

/** Resources of the Pod itself replace the totals of its containers. The overhead is added to either. */
function withPodLevel(
  totals: ReadonlyMap<string, Quantity>,
  own: ResourceList | undefined,
  overhead: ResourceList | null | undefined,
): ReadonlyMap<string, Quantity> {
  if (!own) return totals;
  const result = new Map(totals);
  for (const [name, amount] of Object.entries(own)) {
    const extra = overhead?.[name];
    const text = parseQuantity(amount);
    result.set(name, extra === undefined ? text : addQuantities(text, parseQuantity(extra)));
  }
  return result;
}

function hasLimit({ resources }: Container, name: string): boolean {
  const limit = resources?.limits?.[name];
  return limit !== undefined && quantityValue(parseQuantity(limit)) > 0;
}

const milliOf = (quantity: Quantity | undefined) => (quantity ? milliValue(quantity) : 0);
const bytesOf = (quantity: Quantity | undefined) => (quantity ? quantityValue(quantity) : 0);

/** Returns the CPU request of a Pod in millicores. */
export function cpuRequestOf({ spec }: Pod): number {
  return spec ? milliOf(withPodLevel(podRequests(spec), spec.resources?.requests, spec.overhead).get('cpu')) : 0;
}

/**
 * Returns the limits of the cgroup of all Pods: the resources of the node without the reserved ones. Eviction
 * thresholds are not subtracted: the kubelet must be able to evict a Pod before the kernel kills one.
 */
export function nodeCgroupLimits(capacity: ResourceList, reserved: readonly ResourceList[]): CgroupLimits {
  const amountOf = (name: string, value: (quantity: Quantity) => number) => {
    const total = capacity[name];
    if (total === undefined) return undefined;
    const taken = reserved.map((each) => each[name]).filter((each) => each !== undefined);
    return Math.max(
      0,
      taken.reduce((left, each) => left - value(parseQuantity(each)), value(parseQuantity(total))),
    );
  };
  const cpu = amountOf('cpu', milliValue);
  const memoryBytes = amountOf('memory', quantityValue);
  const pids = amountOf('pid', quantityValue);
  const hugePages = Object.keys(capacity).flatMap((name) => {
    const size = pageSizeOf(name);
    return size === undefined ? [] : [[size, amountOf(name, quantityValue) ?? 0] as const];
  });
  return {
    ...(cpu === undefined ? {} : { cpuShares: sharesOf(cpu) }),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(pids === undefined ? {} : { pids }),
    ...(hugePages.length === 0 ? {} : { hugePages: Object.fromEntries(hugePages) }),
  };
}

/** Returns the limits of the cgroup of reserved resources, such as those of system services. */
export function reservedCgroupLimits(reserved: ResourceList): CgroupLimits {
  return nodeCgroupLimits(reserved, []);
}

/** Returns the larger of each limit. */
export function largerLimits(one: CgroupLimits, other: CgroupLimits): CgroupLimits {
  const larger = (name: 'cpuShares' | 'cpuQuotaMicroseconds' | 'memoryBytes' | 'pids') => {
    const values = [one[name], other[name]].filter((each) => each !== undefined);
    return values.length === 0 ? {} : { [name]: Math.max(...values) };
  };
  return {
    ...other,
    ...larger('cpuShares'),
    ...larger('cpuQuotaMicroseconds'),
    ...larger('memoryBytes'),
    ...larger('pids'),
  };
}

/** A cgroup file with its content. */
export type LimitFile = { readonly controller: string; readonly file: string; readonly content: string };

/** Returns the files of cgroup v1 that hold limits, in the order in which they have to be written. */
export function limitFilesV1(limits: CgroupLimits): readonly LimitFile[] {
  const { cpuShares, cpuQuotaMicroseconds: quota, cpuPeriodMicroseconds: period, memoryBytes, pids } = limits;
  const file = (controller: string, name: string, value: number | undefined, unlimited = '-1'): LimitFile[] =>
    value === undefined ? [] : [{ controller, file: `${controller}.${name}`, content: textOf(value, unlimited) }];
  return [
    ...file('cpu', 'shares', cpuShares),
    ...file('cpu', 'cfs_period_us', quota === undefined ? undefined : period),
    ...file('cpu', 'cfs_quota_us', quota),
    ...file('memory', 'limit_in_bytes', memoryBytes),
    ...file('pids', 'max', pids, 'max'),
    ...Object.entries(limits.hugePages ?? {}).flatMap(([size, bytes]) =>
      file('hugetlb', `${size}.limit_in_bytes`, bytes),
    ),
  ];
}

/** Returns the files of cgroup v2 that hold limits. */
export function limitFilesV2(limits: CgroupLimits): readonly LimitFile[] {
  const { cpuShares, cpuQuotaMicroseconds: quota, cpuPeriodMicroseconds: period, memoryBytes, pids } = limits;
  const file = (controller: string, name: string, content: string): LimitFile => ({
    controller,
    file: `${controller}.${name}`,
    content,
  });
  const suffix = period === undefined ? '' : ` ${period}`;
  return [
    ...(cpuShares === undefined ? [] : [file('cpu', 'weight', String(weightOf(cpuShares)))]),
    ...(quota === undefined ? [] : [file('cpu', 'max', `${textOf(quota, 'max')}${suffix}`)]),
    ...(memoryBytes === undefined ? [] : [file('memory', 'max', textOf(memoryBytes, 'max'))]),
    ...(pids === undefined ? [] : [file('pids', 'max', textOf(pids, 'max'))]),
    ...Object.entries(limits.hugePages ?? {}).map(([size, bytes]) =>
      file('hugetlb', `${size}.max`, textOf(bytes, 'max')),
    ),
  ];
}

function textOf(value: number, unlimited: string): string {
  return value === Number.POSITIVE_INFINITY ? unlimited : String(value);
}

const maxCpuShares = 262_144;

/** Converts CPU shares of cgroup v1 to the weight of cgroup v2. */
export function weightOf(cpuShares: number): number {
  const shares = Math.min(maxCpuShares, Math.max(minCpuShares, cpuShares));
  return 1 + Math.floor(((shares - minCpuShares) * 9999) / (maxCpuShares - minCpuShares));
}

/** The kernel reports no memory limit of cgroup v1 as the largest number of pages. */
const unlimitedFrom = 2 ** 62;

/** Returns a limit that was read from a cgroup file. */
export function parseLimit(content: string): number {
  const value = Number(content.trim().split(' ')[0]);
  return Number.isNaN(value) || value < 0 || value >= unlimitedFrom ? Number.POSITIVE_INFINITY : value;
}
