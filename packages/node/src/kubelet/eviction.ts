/** Who has to go when a node runs short (kubelet.md §11): pure. */
import type { Pod } from '@kruise/api/core/pod';
import type { ResourceList } from '@kruise/machinery/resource-list';
import { addQuantities, formatQuantity, parseQuantity, quantityOf, quantityValue } from '@kruise/values/quantity';
import { isCriticalPod } from './critical.ts';
import type { Pressure } from './node-status.ts';

/** What a node may run short of. */
export type Signal =
  | 'memory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'pid.available';

/** How much of it there is, and how much there was to begin with. */
export type Supply = { readonly available: number; readonly capacity: number };

/** What there is of everything that is measured. */
export type Supplies = Partial<Record<Signal, Supply>>;

/** Below this a node is short of something: an amount, or a share of what there was. */
export type Threshold = {
  readonly signal: Signal;
  readonly value: string;
  /** For how long it has to be so before anyone has to go, who is then given time; without it that is at once. */
  readonly patienceSeconds?: number;
};

/** A Pod, and what each of its containers uses of what is short. */
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

/** Whether a text names something a node may run short of. */
export function isSignal(text: string): text is Signal {
  return Object.hasOwn(pressureOf, text);
}

/** What is not for Pods: what is reserved for others, and what they are evicted at once for the want of. */
export function notForPods(
  capacity: ResourceList,
  reserved: ResourceList,
  thresholds: readonly Threshold[],
): ResourceList {
  const withKept = (name: string, signal: Signal) => {
    const found = thresholds.find((each) => each.signal === signal && each.patienceSeconds === undefined);
    const kept = found ? Math.ceil(limitOf(found.value, bytesOf(capacity[name]))) : 0;
    return formatQuantity(addQuantities(parseQuantity(reserved[name] ?? '0'), quantityOf(kept, 'BinarySI')));
  };
  return {
    ...reserved,
    memory: withKept('memory', 'memory.available'),
    'ephemeral-storage': withKept('ephemeral-storage', 'nodefs.available'),
  };
}

/** A threshold that is not kept. */
export type Shortage = {
  readonly signal: Signal;
  readonly pressure: Pressure;
  /** What is to be had back: `memory`. */
  readonly resource: string;
  readonly limit: number;
  readonly available: number;
  readonly threshold: Threshold;
};

/** What a node is short of, what matters most first. */
export function shortagesOf(thresholds: readonly Threshold[], supplies: Supplies): readonly Shortage[] {
  return thresholds
    .flatMap((threshold): Shortage[] => {
      const { signal, value } = threshold;
      const supply = supplies[signal];
      if (!supply) return [];
      const limit = limitOf(value, supply.capacity);
      if (supply.available >= limit) return [];
      const { available } = supply;
      return [{ signal, pressure: pressureOf[signal], resource: resourceOf[signal], limit, available, threshold }];
    })
    .sort((a, b) => Number(b.pressure === 'MemoryPressure') - Number(a.pressure === 'MemoryPressure'));
}

function limitOf(value: string, capacity: number): number {
  const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(value) ?? [];
  return percent === undefined ? quantityValue(parseQuantity(value)) : (capacity * Number(percent)) / 100;
}

/** Who goes first: those above what they asked for, then those of less weight, then those furthest above. */
export function ranked<C extends Consumer>(consumers: readonly C[], resource: string): readonly C[] {
  // Nobody asks for processes, so that nobody has more than he asked for.
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

const shown = (bytes: number) => formatQuantity(quantityOf(Math.round(bytes), 'BinarySI'));

/** Why a Pod has to go. */
export function evictionMessage({ resource, limit, available }: Shortage, { pod, usage }: Consumer): string {
  const parts = [
    `The node was low on resource: ${resource}. `,
    `Threshold quantity: ${shown(limit)}, available: ${shown(available)}. `,
  ];
  for (const { name, resources } of pod.spec?.containers ?? []) {
    const used = usage.get(name) ?? 0;
    const request = resources?.requests?.[resource];
    if (used <= bytesOf(request)) continue;
    parts.push(
      `Container ${name} was using ${shown(used)}, request is ${request ?? '0'}, has larger consumption of ${resource}. `,
    );
  }
  return parts.join('');
}

/** What a Pod takes of the node's disk: by container, and by volume. */
export type DiskUsage = {
  readonly containers: ReadonlyMap<string, number>;
  readonly emptyDirs: ReadonlyMap<string, number>;
};

/** Which limit of its own a Pod does not keep, if any. */
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
  return `Pod ephemeral local storage usage exceeds the total limit of containers ${shown(limits)}. `;
}

/** Whether a Pod has a limit of its own on what it takes of the node's disk. */
export function limitsDisk({ spec }: Pod): boolean {
  return (
    (spec?.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit != null) ||
    (spec?.containers ?? []).some(({ resources }) => resources?.limits?.['ephemeral-storage'] !== undefined)
  );
}
