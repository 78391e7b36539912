/** A node and what is on it, added up, so that nothing need be counted when a Pod asks for a place. */
import type { Node, Taint } from '@kruise/api/core/node';
import { amountsOf } from '@kruise/machinery/resource-list';
import { parseQuantity, quantityValue } from '@kruise/values/quantity';
import type { HostPort, PodInfo } from './pod-info.ts';
import { accumulate, copyResources, noResources, type Resources, resourcesOf } from './resources.ts';

/** What is known of an image on several nodes. */
export type ImageState = { readonly sizeBytes: number; readonly nodes: Set<string> };

export type NodeInfo = {
  readonly name: string;
  /** Undefined where Pods are known of a node that is not. */
  node: Node | undefined;
  /** The labels of the node. */
  labels: Readonly<Record<string, string>>;
  /** The taints of the node; most have none. */
  taints: readonly Taint[];
  isUnschedulable: boolean;
  allocatable: Resources;
  allowedPods: number;
  readonly pods: Map<string, PodInfo>;
  /** How many Pods there are of each priority. */
  readonly priorities: Map<number, number>;
  readonly requested: Resources;
  /** What its Pods are taken to need at least. */
  readonly assumedRequested: { milliCpu: number; memoryBytes: number };
  /** How many Pods use a port, by `protocol:port` and then by address. */
  readonly usedPorts: Map<string, Map<string, number>>;
  /** How many Pods use a claim, by `namespace/name`. */
  readonly usedClaims: Map<string, number>;
  readonly images: Map<string, ImageState>;
  /** Its place in arrays of what is known of nodes; taken by another once it is gone. */
  readonly slot: number;
  /** Another number whenever anything of it has changed. */
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
    assumedRequested: { milliCpu: 0, memoryBytes: 0 },
    usedPorts: new Map(),
    usedClaims: new Map(),
    images: new Map(),
    generation: 0,
  };
}

/** A node on which something can be tried out without the other being any different. */
export function copyNodeInfo(info: NodeInfo): NodeInfo {
  return {
    ...info,
    pods: new Map(info.pods),
    priorities: new Map(info.priorities),
    requested: copyResources(info.requested),
    assumedRequested: { ...info.assumedRequested },
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

export function putPod(info: NodeInfo, pod: PodInfo): void {
  info.pods.set(pod.uid, pod);
  account(info, pod, 1);
}

/** Takes a Pod off, as it was when it was put there. */
export function takePod(info: NodeInfo, uid: string): PodInfo | undefined {
  const pod = info.pods.get(uid);
  if (!pod) return undefined;
  info.pods.delete(uid);
  account(info, pod, -1);
  return pod;
}

function account(info: NodeInfo, pod: PodInfo, sign: 1 | -1): void {
  count(info.priorities, pod.priority, sign);
  accumulate(info.requested, pod.requests, sign);
  info.assumedRequested.milliCpu += sign * pod.assumedRequests.milliCpu;
  info.assumedRequested.memoryBytes += sign * pod.assumedRequests.memoryBytes;
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

/** Whether any Pod on a node is of a lower priority. */
export function hasLesserPods({ priorities }: NodeInfo, priority: number): boolean {
  for (const each of priorities.keys()) if (each < priority) return true;
  return false;
}

/** Counts in a map that has no zeroes. */
export function count<K>(counts: Map<K, number>, key: K, by: number): void {
  const sum = (counts.get(key) ?? 0) + by;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}

/** Whether a port is in use: on its own address or, where either of them means all addresses, on any. */
export function isPortUsed(usedPorts: NodeInfo['usedPorts'], { address, protocol, port }: HostPort): boolean {
  const addresses = usedPorts.get(`${protocol}:${port}`);
  if (!addresses) return false;
  return address === '0.0.0.0' || addresses.has(address) || addresses.has('0.0.0.0');
}
