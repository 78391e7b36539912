/** Node-pressure eviction: pure functions that compare thresholds and rank Pods. */
import type { Pod } from '@kruise/api/core/pod';
import type { ResourceList } from '@kruise/machinery/resource-list';
import { addQuantities, formatQuantity, parseQuantity, quantityOf, quantityValue } from '@kruise/values/quantity';
import { isCriticalPod } from '../admission/critical.ts';
import type { Pressure } from '../node/node-status.ts';

/** Eviction signals. */
export type Signal =
  | 'memory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'pid.available';

/** Observation of one signal: the available amount and the capacity. */
export type Observation = { readonly available: number; readonly capacity: number };

/** Observations by signal. */
export type Observations = Partial<Record<Signal, Observation>>;

/** Eviction threshold: an amount, or a percentage of the capacity. */
export type Threshold = {
  readonly signal: Signal;
  readonly value: string;
  /** Grace period of a soft threshold. A threshold without it is hard: Pods are evicted at once. */
  readonly patienceSeconds?: number;
};

/** A Pod with the usage of the scarce resource by each of its containers. */
export type Consumer = {
  readonly pod: Pod;
  readonly usage: ReadonlyMap<string, number>;
};

export const defaultThresholds: readonly Threshold[] = [
  { signal: 'memory.available', value: '100Mi' },
  { signal: 'nodefs.available', value: '10%' },
  { signal: 'nodefs.inodesFree', value: '5%' },
  { signal: 'imagefs.available', value: '15%' },
  { signal: 'imagefs.inodesFree', value: '5%' },
];

const pressureOf: { readonly [S in Signal]: Pressure } = {
  'memory.available': 'MemoryPressure',
  'nodefs.available': 'DiskPressure',
  'nodefs.inodesFree': 'DiskPressure',
  'imagefs.available': 'DiskPressure',
  'imagefs.inodesFree': 'DiskPressure',
  'pid.available': 'PIDPressure',
};

const resourceOf: { readonly [S in Signal]: string } = {
  'memory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
  'nodefs.inodesFree': 'inodes',
  'imagefs.available': 'ephemeral-storage',
  'imagefs.inodesFree': 'inodes',
  'pid.available': 'pids',
};

/** Reports whether a text is an eviction signal. */
export function isSignal(text: string): text is Signal {
  return Object.hasOwn(pressureOf, text);
}

/** Returns the resources that are not allocatable: reserved resources plus the hard eviction thresholds. */
export function systemReservation(
  capacity: ResourceList,
  reserved: ResourceList,
  thresholds: readonly Threshold[],
): ResourceList {
  const withHardThreshold = (name: string, signal: Signal) => {
    const found = thresholds.find((each) => each.signal === signal && each.patienceSeconds === undefined);
    const evictionReserve = found ? Math.ceil(limitOf(found.value, bytesOf(capacity[name]))) : 0;
    return formatQuantity(addQuantities(parseQuantity(reserved[name] ?? '0'), quantityOf(evictionReserve, 'BinarySI')));
  };
  return {
    ...reserved,
    memory: withHardThreshold('memory', 'memory.available'),
    'ephemeral-storage': withHardThreshold('ephemeral-storage', 'nodefs.available'),
  };
}

/** A threshold that is met. */
export type Shortage = {
  readonly signal: Signal;
  readonly pressure: Pressure;
  /** Resource to reclaim, such as `memory`. */
  readonly resource: string;
  readonly limit: number;
  readonly available: number;
  readonly threshold: Threshold;
};

/** Returns the thresholds that are met; memory comes first. */
export function shortagesOf(thresholds: readonly Threshold[], observations: Observations): readonly Shortage[] {
  return thresholds
    .flatMap((threshold): Shortage[] => {
      const { signal, value } = threshold;
      const observation = observations[signal];
      if (!observation) return [];
      const limit = limitOf(value, observation.capacity);
      if (observation.available >= limit) return [];
      const { available } = observation;
      return [{ signal, pressure: pressureOf[signal], resource: resourceOf[signal], limit, available, threshold }];
    })
    .sort((a, b) => Number(b.pressure === 'MemoryPressure') - Number(a.pressure === 'MemoryPressure'));
}

function limitOf(value: string, capacity: number): number {
  const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(value) ?? [];
  return percent === undefined ? quantityValue(parseQuantity(value)) : (capacity * Number(percent)) / 100;
}

/**
 * Ranks Pods for eviction: Pods above their requests first, then by lower priority, then by excess over the requests.
 */
export function rankForEviction<C extends Consumer>(consumers: readonly C[], resource: string): readonly C[] {
  // Pods do not request processes, so no Pod is above its request.
  const request = (pod: Pod) => (resource === 'pids' ? Number.POSITIVE_INFINITY : requestOf(pod, resource));
  const isAbove = (consumer: C) => totalOf(consumer) > request(consumer.pod);
  const excess = (consumer: C) => totalOf(consumer) - requestOf(consumer.pod, resource);
  return consumers
    .filter(({ pod }) => !isCriticalPod(pod))
    .toSorted(
      (a, b) =>
        Number(isAbove(b)) - Number(isAbove(a)) ||
        (a.pod.spec?.priority ?? 0) - (b.pod.spec?.priority ?? 0) ||
        excess(b) - excess(a),
    );
}

function totalOf({ usage }: Consumer): number {
  let total = 0;
  for (const each of usage.values()) total += each;
  return total;
}

function requestOf({ spec }: Pod, resource: string): number {
  let total = 0;
  for (const { resources } of spec?.containers ?? []) total += bytesOf(resources?.requests?.[resource]);
  return total;
}

function bytesOf(quantity: string | undefined): number {
  return quantity === undefined ? 0 : quantityValue(parseQuantity(quantity));
}

const formatBytes = (bytes: number) => formatQuantity(quantityOf(Math.round(bytes), 'BinarySI'));

/** Returns the message of an evicted Pod. */
export function evictionMessage({ resource, limit, available }: Shortage, { pod, usage }: Consumer): string {
  const parts = [
    `The node was low on resource: ${resource}. `,
    `Threshold quantity: ${formatBytes(limit)}, available: ${formatBytes(available)}. `,
  ];
  for (const { name, resources } of pod.spec?.containers ?? []) {
    const used = usage.get(name) ?? 0;
    const request = resources?.requests?.[resource];
    if (used <= bytesOf(request)) continue;
    parts.push(
      `Container ${name} was using ${formatBytes(used)}, request is ${request ?? '0'}, has larger consumption of ${resource}. `,
    );
  }
  return parts.join('');
}

/** Disk usage of a Pod by container and by emptyDir volume. */
export type DiskUsage = {
  readonly containers: ReadonlyMap<string, number>;
  readonly emptyDirs: ReadonlyMap<string, number>;
};

/** Returns the message for the local storage limit that a Pod exceeds, if any. */
export function diskViolation({ spec }: Pod, { containers, emptyDirs }: DiskUsage): string | undefined {
  for (const { name, emptyDir } of spec?.volumes ?? []) {
    const limit = emptyDir?.sizeLimit;
    if (limit != null && (emptyDirs.get(name) ?? 0) > bytesOf(limit)) {
      return `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${JSON.stringify(limit)}. `;
    }
  }
  let limits = 0;
  let used = 0;
  let isLimited = true;
  for (const { name, resources } of spec?.containers ?? []) {
    const limit = resources?.limits?.['ephemeral-storage'];
    used += containers.get(name) ?? 0;
    if (limit === undefined) isLimited = false;
    limits += bytesOf(limit);
    if (limit !== undefined && (containers.get(name) ?? 0) > bytesOf(limit)) {
      return `Container ${name} exceeded its local ephemeral storage limit ${JSON.stringify(limit)}. `;
    }
  }
  for (const usage of emptyDirs.values()) used += usage;
  if (!isLimited || limits === 0 || used <= limits) return undefined;
  return `Pod ephemeral local storage usage exceeds the total limit of containers ${formatBytes(limits)}. `;
}

/** Reports whether a Pod has a limit on local ephemeral storage. */
export function limitsDisk({ spec }: Pod): boolean {
  return (
    (spec?.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit != null) ||
    (spec?.containers ?? []).some(({ resources }) => resources?.limits?.['ephemeral-storage'] !== undefined)
  );
}
