/** NodeInfo: a node and the aggregated state of its Pods, so that nothing is counted in a scheduling cycle. */
import type { Node, Taint } from '@kruise/api/core/node';
import { amountsOf } from '@kruise/machinery/resource-list';
import { parseQuantity, quantityValue } from '@kruise/values/quantity';
import type { HostPort, PodInfo } from './pod-info.ts';
import { accumulate, copyResources, noResources, type Resources, resourcesOf } from './resources.ts';

/** State of an image on several nodes. */
export type ImageState = { readonly sizeBytes: number; readonly nodes: Set<string> };

export type NodeInfo = {
  readonly name: string;
  /** Undefined if Pods of an unknown node were observed. */
  node: Node | undefined;
  /** Labels of the node. */
  labels: Readonly<Record<string, string>>;
  /** Taints of the node; most nodes have none. */
  taints: readonly Taint[];
  isUnschedulable: boolean;
  allocatable: Resources;
  allowedPods: number;
  readonly pods: Map<string, PodInfo>;
  /** Number of Pods by priority. */
  readonly priorities: Map<number, number>;
  readonly requested: Resources;
  /** Non-zero requests of its Pods. */
  readonly nonZeroRequested: { milliCpu: number; memoryBytes: number };
  /** Number of Pods by `protocol:port` and then by host IP. */
  readonly usedPorts: Map<string, Map<string, number>>;
  /** Number of Pods by PVC (`namespace/name`). */
  readonly usedClaims: Map<string, number>;
  readonly images: Map<string, ImageState>;
  /** Index in arrays with one entry per node; reused after the node is removed. */
  readonly slot: number;
  /** Changes with every update of the node. */
  generation: number;
};

const noTaints: readonly Taint[] = [];
const noLabels: Readonly<Record<string, string>> = {};

export function createNodeInfo(name: string, slot = 0): NodeInfo {
  return {
    name,
    slot,
    node: undefined,
    labels: noLabels,
    taints: noTaints,
    isUnschedulable: false,
    allocatable: noResources(),
    allowedPods: 0,
    pods: new Map(),
    priorities: new Map(),
    requested: noResources(),
    nonZeroRequested: { milliCpu: 0, memoryBytes: 0 },
    usedPorts: new Map(),
    usedClaims: new Map(),
    images: new Map(),
    generation: 0,
  };
}

/** Copies a node, so that a simulation does not affect the original. */
export function copyNodeInfo(info: NodeInfo): NodeInfo {
  return {
    ...info,
    pods: new Map(info.pods),
    priorities: new Map(info.priorities),
    requested: copyResources(info.requested),
    nonZeroRequested: { ...info.nonZeroRequested },
    usedPorts: new Map([...info.usedPorts].map(([port, addresses]) => [port, new Map(addresses)])),
    usedClaims: new Map(info.usedClaims),
  };
}

export function setNode(info: NodeInfo, node: Node | undefined): void {
  const allocatable = node?.status?.allocatable;
  info.node = node;
  info.labels = node?.metadata.labels ?? noLabels;
  info.taints = node?.spec?.taints ?? noTaints;
  info.isUnschedulable = node?.spec?.unschedulable ?? false;
  info.allocatable = resourcesOf(amountsOf(allocatable));
  info.allowedPods = quantityValue(parseQuantity(allocatable?.pods ?? '0'));
  info.generation++;
}

export function addPod(info: NodeInfo, pod: PodInfo): void {
  info.pods.set(pod.uid, pod);
  account(info, pod, 1);
}

/** Removes a Pod in the state in which it was added. */
export function removePod(info: NodeInfo, uid: string): PodInfo | undefined {
  const pod = info.pods.get(uid);
  if (!pod) return undefined;
  info.pods.delete(uid);
  account(info, pod, -1);
  return pod;
}

function account(info: NodeInfo, pod: PodInfo, sign: 1 | -1): void {
  count(info.priorities, pod.priority, sign);
  accumulate(info.requested, pod.requests, sign);
  info.nonZeroRequested.milliCpu += sign * pod.nonZeroRequests.milliCpu;
  info.nonZeroRequested.memoryBytes += sign * pod.nonZeroRequests.memoryBytes;
  for (const { address, protocol, port } of pod.hostPorts) {
    const id = `${protocol}:${port}`;
    let addresses = info.usedPorts.get(id);
    if (!addresses) info.usedPorts.set(id, (addresses = new Map()));
    count(addresses, address, sign);
    if (addresses.size === 0) info.usedPorts.delete(id);
  }
  for (const claim of pod.claims) count(info.usedClaims, claim, sign);
  info.generation++;
}

/** Reports whether a node has Pods of lower priority. */
export function hasLowerPriorityPods({ priorities }: NodeInfo, priority: number): boolean {
  for (const each of priorities.keys()) if (each < priority) return true;
  return false;
}

/** Changes a count in a map that omits zeroes. */
export function count<K>(counts: Map<K, number>, key: K, by: number): void {
  const sum = (counts.get(key) ?? 0) + by;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}

/** Reports whether a host port is in use: on its own IP or, if either IP is the wildcard address, on any. */
export function isPortUsed(usedPorts: NodeInfo['usedPorts'], { address, protocol, port }: HostPort): boolean {
  const addresses = usedPorts.get(`${protocol}:${port}`);
  if (!addresses) return false;
  return address === '0.0.0.0' || addresses.has(address) || addresses.has('0.0.0.0');
}
