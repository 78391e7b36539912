/**
 * The cluster as the scheduler knows it: nodes, the Pods on them, and those it has just put there and whose binding is
 * not seen yet (assumed). Everything a cycle asks for is kept added up, and brought up to date by each change alone.
 *
 * There is no snapshot. A cycle runs without a pause, so nothing can change under it.
 */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { isSame } from '@kruise/machinery/json-value';
import { count, createNodeInfo, type ImageState, type NodeInfo, putPod, setNode, takePod } from './node-info.ts';
import { createNodeOrder } from './node-order.ts';
import { type PodInfo, podInfoOf, relabelled } from './pod-info.ts';
import { createTallies, type Tallies } from './tally.ts';

/** What can be asked of the cluster. */
export type ClusterView = {
  /** The nodes, in the order they are looked at. */
  readonly nodes: readonly NodeInfo[];
  node(name: string): NodeInfo | undefined;
  /** How many nodes there are of each value of a label. */
  domains(topologyKey: string): ReadonlyMap<string, number>;
  readonly tallies: Tallies;
  /** Whether any node has an image. */
  hasImage(name: string): boolean;
};

export type Cluster = ClusterView & {
  setNode(node: Node): void;
  removeNode(name: string): void;
  /** A Pod is on a node, as the API server has it: one that is new, was assumed, or has changed. */
  setPod(pod: Pod): void;
  removePod(uid: string): void;
  /** A Pod is as good as on a node. */
  assume(pod: PodInfo, node: string): void;
  /** What was assumed did not come about. */
  forget(uid: string): void;
  isAssumed(uid: string): boolean;
  /** The Pod as it is on its node. */
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
    putPod(node, pod);
    tallies.change(node, pod, 1);
    placed.set(pod.uid, { node, isAssumed });
  };
  const remove = (uid: string) => {
    const place = placed.get(uid);
    if (!place) return;
    placed.delete(uid);
    const pod = takePod(place.node, uid);
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
      // Its Pods may still be seen to go, one by one.
      relabel(info, undefined);
      order.remove(name);
      dropIfEmpty(info);
    },
    setPod(pod) {
      const { uid = '' } = pod.metadata;
      const name = pod.spec?.nodeName ?? '';
      const place = placed.get(uid);
      const before = place?.node.pods.get(uid);
      const takesAsMuch = before !== undefined && isAsMuch(before.pod, pod);
      if (place && takesAsMuch && place.node.name === name && isCountedAlike(before.pod, pod)) {
        // What matters is as it was; only the object is newer.
        place.node.pods.set(uid, { ...before, pod });
        if (place.isAssumed) placed.set(uid, { node: place.node, isAssumed: false });
        return;
      }
      remove(uid);
      put(takesAsMuch ? relabelled(before, pod) : podInfoOf(pod), infoOf(name), false);
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

/** Whether one state of a Pod takes up as much as another, as far as can be told at a glance. */
function isAsMuch(a: Pod, b: Pod): boolean {
  return (
    (a.spec === b.spec || isSame(withoutNode(a), withoutNode(b))) &&
    (a.status === b.status || isSame(ownResources(a), ownResources(b)))
  );
}

/** Whether one state of a Pod is counted among the same Pods as another. */
function isCountedAlike({ metadata: a }: Pod, { metadata: b }: Pod): boolean {
  return (a.deletionTimestamp == null) === (b.deletionTimestamp == null) && isSame(a.labels, b.labels);
}

/** A Pod that was assumed has no node yet. Everything else in the two is the same in memory, as a rule. */
function withoutNode({ spec }: Pod): object {
  return { ...spec, nodeName: undefined };
}

/** What containers hold, which may be something else than they ask for, and what is said of giving them that. */
function ownResources({ status }: Pod): unknown {
  const { containerStatuses = [], initContainerStatuses = [], conditions = [] } = status ?? {};
  const held = [...initContainerStatuses, ...containerStatuses].filter(({ resources }) => resources != null);
  const pending = conditions.find(({ type }) => type === 'PodResizePending');
  return {
    held: held.map(({ name, resources, allocatedResources }) => [name, resources, allocatedResources]),
    pending,
  };
}

/** Which images are on which nodes. */
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
