/** Node status as a pure function. Fields set by other components, for example extended resources, are preserved. */
import type { Node, NodeCondition, NodeStatus, NodeSystemInfo } from '@kruise/api/core/node';
import { isExtendedResource } from '@kruise/api/core/resource-name';
import { findCondition } from '@kruise/machinery/conditions';
import { isSame } from '@kruise/machinery/json-value';
import type { ResourceList } from '@kruise/machinery/resource-list';
import { formatQuantity, parseQuantity, quantitySign, subtractQuantities, zeroQuantity } from '@kruise/values/quantity';
import { formatTime, type Instant } from '@kruise/values/time';
import type { Image, RuntimeFeatures, RuntimeHandler } from '../../cri/messages.ts';

/** Inputs of a node status. */
export type NodeStatusInputs = {
  readonly hostname: string;
  readonly addresses: readonly string[];
  /** Capacity of the machine. */
  readonly capacity: ResourceList;
  /** Resources that are not allocatable to Pods. */
  readonly reserved: ResourceList;
  readonly info: NodeSystemInfo;
  readonly images: readonly Image[];
  readonly kubeletPort: number;
  readonly handlers: readonly RuntimeHandler[];
  readonly features: RuntimeFeatures | undefined;
  /** Current node pressures. */
  readonly pressures: ReadonlySet<Pressure>;
  /** Attachable volumes in use; undefined leaves the list as it is. */
  readonly volumesInUse?: readonly string[] | undefined;
  /** Reasons why the node is not ready; empty if the node is ready. */
  readonly faults: readonly string[];
  readonly now: Instant;
};

/** Node pressure condition. */
export type Pressure = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

type ConditionValue = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>;

const pressureTexts: {
  readonly [P in Pressure]: { readonly yes: readonly [string, string]; readonly no: readonly [string, string] };
} = {
  MemoryPressure: {
    yes: ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
    no: ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  },
  DiskPressure: {
    yes: ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
    no: ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  },
  PIDPressure: {
    yes: ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
    no: ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  },
};

/** Returns the node conditions that the kubelet sets, in order. */
export function nodeConditionValues({
  pressures,
  faults,
}: Pick<NodeStatusInputs, 'pressures' | 'faults'>): readonly ConditionValue[] {
  const values = (Object.keys(pressureTexts) as Pressure[]).map((type): ConditionValue => {
    const [reason, message] = pressureTexts[type][pressures.has(type) ? 'yes' : 'no'];
    return { type, status: pressures.has(type) ? 'True' : 'False', reason, message };
  });
  const message = faults.length === 1 ? faults[0]! : `[${faults.join(', ')}]`;
  const ready: ConditionValue =
    faults.length === 0
      ? { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message };
  return [...values, ready];
}

/** Returns the event reason for a change of a node condition. */
export function eventReasonFor({ type, status }: Pick<NodeCondition, 'type' | 'status'>): string | undefined {
  const isTrue = status === 'True';
  switch (type) {
    case 'MemoryPressure':
      return isTrue ? 'NodeHasInsufficientMemory' : 'NodeHasSufficientMemory';
    case 'DiskPressure':
      return isTrue ? 'NodeHasDiskPressure' : 'NodeHasNoDiskPressure';
    case 'PIDPressure':
      return isTrue ? 'NodeHasInsufficientPID' : 'NodeHasSufficientPID';
    case 'Ready':
      return isTrue ? 'NodeReady' : 'NodeNotReady';
    default:
      return undefined;
  }
}

const maxImages = 50;
const maxNames = 5;

/** Returns the new status of a node, based on its current status. */
export function nodeStatusOf(before: NodeStatus, inputs: NodeStatusInputs): NodeStatus {
  const { images: _, volumesInUse: reportedVolumes = [], ...current } = before;
  const { hostname, addresses, now } = inputs;
  const volumesInUse = [...(inputs.volumesInUse ?? reportedVolumes)];
  const capacity = { ...current.capacity, ...inputs.capacity };
  const values = nodeConditionValues(inputs);
  const kept = (current.conditions ?? []).filter(({ type }) => !values.some((value) => value.type === type));
  return {
    ...current,
    addresses: [
      ...addresses.map((address) => ({ type: 'InternalIP', address })),
      { type: 'Hostname', address: hostname },
    ],
    capacity,
    allocatable: allocatableOf(capacity, inputs.reserved),
    conditions: [...kept, ...values.map((value) => conditionOf(value, current.conditions, now))],
    daemonEndpoints: { kubeletEndpoint: { Port: inputs.kubeletPort } },
    nodeInfo: inputs.info,
    ...(volumesInUse.length > 0 ? { volumesInUse } : {}),
    // The API server drops empty lists, so an empty list would look like a change forever.
    ...(inputs.images.length === 0 ? {} : { images: imagesOf(inputs.images) }),
    ...(inputs.handlers.length === 0 ? {} : { runtimeHandlers: inputs.handlers.map(handlerOf) }),
    ...(inputs.features ? { features: { supplementalGroupsPolicy: inputs.features.supplementalGroupsPolicy } } : {}),
  };
}

function handlerOf({ name, features }: RuntimeHandler) {
  return { name, ...(features ? { features: { ...features } } : {}) };
}

/** Returns the allocatable resources. Extended resources are fully allocatable. */
export function allocatableOf(capacity: ResourceList, reserved: ResourceList): { [name: string]: string } {
  const allocatable: { [name: string]: string } = {};
  const hugePages = Object.entries(capacity).filter(([name]) => name.startsWith('hugepages-'));
  for (const [name, amount] of Object.entries(capacity)) {
    if (isExtendedResource(name)) {
      allocatable[name] = amount;
      continue;
    }
    let left = subtractQuantities(parseQuantity(amount), parseQuantity(reserved[name] ?? '0'));
    if (name === 'memory') for (const [, pages] of hugePages) left = subtractQuantities(left, parseQuantity(pages));
    allocatable[name] = formatQuantity(quantitySign(left) < 0 ? zeroQuantity : left);
  }
  return allocatable;
}

function conditionOf(
  value: ConditionValue,
  current: readonly NodeCondition[] | undefined,
  now: Instant,
): NodeCondition {
  const before = findCondition(current, value.type);
  const since = before?.status === value.status ? before.lastTransitionTime : undefined;
  return { ...value, lastHeartbeatTime: formatTime(now), lastTransitionTime: since ?? formatTime(now) };
}

function imagesOf(images: readonly Image[]) {
  return images
    .toSorted((a, b) => b.size - a.size)
    .slice(0, maxImages)
    .map(({ repoDigests, repoTags, size }) => ({
      names: [...repoDigests, ...repoTags].slice(0, maxNames),
      sizeBytes: size,
    }));
}

/** Reports whether two statuses are equal apart from heartbeat times. */
export function isSameNodeStatus(one: NodeStatus, other: NodeStatus): boolean {
  return isSame(withoutHeartbeats(one), withoutHeartbeats(other));
}

function withoutHeartbeats({ conditions = [], ...rest }: NodeStatus) {
  return { ...rest, conditions: conditions.map(({ lastHeartbeatTime: _, ...condition }) => condition) };
}

/** Returns the well-known labels of a node. */
export function nodeLabels(hostname: string, { operatingSystem, architecture }: NodeSystemInfo) {
  return {
    'beta.kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': operatingSystem,
    'kubernetes.io/arch': architecture,
    'kubernetes.io/hostname': hostname,
    'kubernetes.io/os': operatingSystem,
  };
}

/**
 * Returns an existing Node with the labels and annotations of this kubelet; returns the same object if nothing changes.
 */
export function reconciledNode(found: Node, wanted: Node): Node {
  const labels = { ...found.metadata.labels, ...wanted.metadata.labels };
  const annotations = { ...found.metadata.annotations, ...wanted.metadata.annotations };
  const isReconciled = isSame(labels, found.metadata.labels) && isSame(annotations, found.metadata.annotations);
  return isReconciled ? found : { ...found, metadata: { ...found.metadata, labels, annotations } };
}
