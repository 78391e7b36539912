/**
 * Scheduler cache: nodes, the Pods on them, and assumed Pods whose binding is not observed yet. Everything that a cycle
 * needs is aggregated, and updated incrementally.
 *
 * There is no snapshot. A cycle runs synchronously, so nothing changes during it.
 */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { isSame } from '@kruise/machinery/json-value';
import { addPod, count, createNodeInfo, type ImageState, type NodeInfo, removePod, setNode } from './node-info.ts';
import { createNodeOrder } from './node-order.ts';
import { type PodInfo, podInfoOf, relabelled } from './pod-info.ts';
import { createTallies, type Tallies } from './tally.ts';

/** Read access to the scheduler cache. */
export type ClusterView = {
  /** Nodes in scheduling order. */
  readonly nodes: readonly NodeInfo[];
  node(name: string): NodeInfo | undefined;
  /** Returns the number of nodes for each value of a label. */
  domains(topologyKey: string): ReadonlyMap<string, number>;
  readonly tallies: Tallies;
  /** Reports whether any node has an image. */
  hasImage(name: string): boolean;
};

export type Cluster = ClusterView & {
  setNode(node: Node): void;
  removeNode(name: string): void;
  /** Adds or updates a Pod that is bound to a node, assumed before or not. */
  setPod(pod: Pod): void;
  removePod(uid: string): void;
  /** Assumes that a Pod is on a node. */
  assume(pod: PodInfo, node: string): void;
  /** Removes an assumed Pod whose binding failed. */
  forget(uid: string): void;
  isAssumed(uid: string): boolean;
  /** Returns the Pod with its node. */
  pod(uid: string): PodInfo | undefined;
};

type Placed = { readonly node: NodeInfo; readonly isAssumed: boolean };

export function createCluster(): Cluster {
  const infos = new Map<string, NodeInfo>();
  const freeSlots: number[] = [];
  const placed = new Map<string, Placed>();
  const order = createNodeOrder();
  const images = createImages();
  const tallies = createTallies(infos);
  let names: readonly string[] = [];
  let nodes: readonly NodeInfo[] = [];
  const domains = new Map<string, Map<string, number>>();

  const infoOf = (name: string): NodeInfo => {
    let info = infos.get(name);
    if (!info) infos.set(name, (info = createNodeInfo(name, freeSlots.pop() ?? infos.size)));
    return info;
  };
  const dropIfEmpty = (info: NodeInfo) => {
    if (info.node !== undefined || info.pods.size > 0 || !infos.delete(info.name)) return;
    freeSlots.push(info.slot);
  };
  const put = (pod: PodInfo, node: NodeInfo, isAssumed: boolean) => {
    addPod(node, pod);
    tallies.change(node, pod, 1);
    placed.set(pod.uid, { node, isAssumed });
  };
  const remove = (uid: string) => {
    const place = placed.get(uid);
    if (!place) return;
    placed.delete(uid);
    const pod = removePod(place.node, uid);
    if (pod) tallies.change(place.node, pod, -1);
    dropIfEmpty(place.node);
  };
  const relabel = (info: NodeInfo, node: Node | undefined) => {
    const before = info.labels;
    setNode(info, node);
    if (isSame(before, info.labels)) return;
    tallies.relabel(info.name, before, info.labels);
    for (const [topologyKey, counts] of domains) {
      countLabel(counts, before[topologyKey], -1);
      countLabel(counts, info.labels[topologyKey], 1);
    }
  };

  return {
    get nodes() {
      const current = order.names();
      if (current !== names) {
        names = current;
        nodes = current.map((name) => infos.get(name)!);
      }
      return nodes;
    },
    node(name) {
      const info = infos.get(name);
      return info?.node && info;
    },
    domains(topologyKey) {
      let counts = domains.get(topologyKey);
      if (!counts) {
        domains.set(topologyKey, (counts = new Map()));
        for (const { labels } of infos.values()) countLabel(counts, labels[topologyKey], 1);
      }
      return counts;
    },
    tallies,
    hasImage: images.has,
    setNode(node) {
      const info = infoOf(node.metadata.name ?? '');
      images.set(info, node);
      relabel(info, node);
      order.set(node);
    },
    removeNode(name) {
      const info = infos.get(name);
      if (!info) return;
      images.set(info, undefined);
      // The deletions of its Pods may be observed later, one by one.
      relabel(info, undefined);
      order.remove(name);
      dropIfEmpty(info);
    },
    setPod(pod) {
      const { uid = '' } = pod.metadata;
      const name = pod.spec?.nodeName ?? '';
      const place = placed.get(uid);
      const before = place?.node.pods.get(uid);
      const hasSameRequests = before !== undefined && haveSameRequests(before.pod, pod);
      if (place && hasSameRequests && place.node.name === name && haveSameLabels(before.pod, pod)) {
        // Nothing relevant changed; only the object is newer.
        place.node.pods.set(uid, { ...before, pod });
        if (place.isAssumed) placed.set(uid, { node: place.node, isAssumed: false });
        return;
      }
      remove(uid);
      put(hasSameRequests ? relabelled(before, pod) : podInfoOf(pod), infoOf(name), false);
    },
    removePod: remove,
    assume: (pod, node) => put(pod, infoOf(node), true),
    forget(uid) {
      if (placed.get(uid)?.isAssumed) remove(uid);
    },
    isAssumed: (uid) => placed.get(uid)?.isAssumed ?? false,
    pod: (uid) => placed.get(uid)?.node.pods.get(uid),
  };
}

function countLabel(counts: Map<string, number>, value: string | undefined, by: 1 | -1): void {
  if (value !== undefined) count(counts, value, by);
}

/** Reports whether two states of a Pod have the same requests, by a cheap comparison. */
function haveSameRequests(a: Pod, b: Pod): boolean {
  return (
    (a.spec === b.spec || isSame(withoutNode(a), withoutNode(b))) &&
    (a.status === b.status || isSame(ownResources(a), ownResources(b)))
  );
}

/** Reports whether two states of a Pod are counted by the same queries. */
function haveSameLabels({ metadata: a }: Pod, { metadata: b }: Pod): boolean {
  return (a.deletionTimestamp == null) === (b.deletionTimestamp == null) && isSame(a.labels, b.labels);
}

/** An assumed Pod has no node name yet. Everything else in the two objects is usually shared in memory. */
function withoutNode({ spec }: Pod): object {
  return { ...spec, nodeName: undefined };
}

/** Returns the allocated resources of containers, which may differ from their requests, and the resize status. */
function ownResources({ status }: Pod): unknown {
  const { containerStatuses = [], initContainerStatuses = [], conditions = [] } = status ?? {};
  const held = [...initContainerStatuses, ...containerStatuses].filter(({ resources }) => resources != null);
  const pending = conditions.find(({ type }) => type === 'PodResizePending');
  return {
    held: held.map(({ name, resources, allocatedResources }) => [name, resources, allocatedResources]),
    pending,
  };
}

/** Creates the index of images by node. */
function createImages() {
  const states = new Map<string, ImageState>();
  const namesOf = (node: Node | undefined) =>
    (node?.status?.images ?? []).flatMap(({ names, sizeBytes }) => (names ?? []).map((name) => ({ name, sizeBytes })));
  return {
    has: (name: string) => states.has(name),
    set(info: NodeInfo, node: Node | undefined): void {
      if (isSame(info.node?.status?.images, node?.status?.images)) return;
      for (const [name, state] of info.images) {
        state.nodes.delete(info.name);
        if (state.nodes.size === 0) states.delete(name);
      }
      info.images.clear();
      for (const { name, sizeBytes } of namesOf(node)) {
        let state = states.get(name);
        if (!state) states.set(name, (state = { sizeBytes: Number(sizeBytes ?? 0), nodes: new Set() }));
        state.nodes.add(info.name);
        info.images.set(name, state);
      }
    },
  };
}
