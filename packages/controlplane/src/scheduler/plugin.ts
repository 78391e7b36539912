/**
 * Plugin interface. A plugin filters and scores nodes for a Pod. It is called once per Pod, and returns functions that
 * are called for one node after the other; it keeps no state between Pods.
 */
import type { ClusterView } from './cluster/cluster.ts';
import type { NodeInfo } from './cluster/node-info.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import type { ClusterEvent, EventAction, EventResource } from './events.ts';

/** Reason why a node, or all nodes, are not feasible. */
export type Rejection = {
  readonly plugin: string;
  /** Preemption of lower-priority Pods may make the node feasible. */
  readonly isPreemptable: boolean;
  readonly reasons: readonly string[];
};

/** Filters nodes for a Pod. */
export type NodeFilter = {
  check(node: NodeInfo): Rejection | undefined;
  /** Copies the filter for a simulation with added and removed Pods; needed if Pods of other nodes matter. */
  fork?(): ChangeableFilter;
};
export type ForkableFilter = Required<NodeFilter>;
export type ChangeableFilter = ForkableFilter & {
  change(pod: PodInfo, node: NodeInfo, by: 1 | -1): void;
};

/** PreFilter result of a plugin for a Pod. */
export type Prepared =
  /** The plugin does not restrict the nodes. */
  | undefined
  /** No node is feasible. */
  | { readonly rejection: Rejection }
  | {
      readonly filter: NodeFilter;
      /** The only nodes to evaluate. */
      readonly nodeNames?: ReadonlySet<string>;
    };

/** Scores nodes for a Pod. */
export type NodeScorer = {
  score(node: NodeInfo): number;
  /** Normalizes the scores of all nodes, in the order of `nodes`, to the range 0 to 100. */
  normalize?(scores: Float64Array): void;
};

/** An event that may make a rejected Pod schedulable. */
export type Registration = {
  readonly resource: EventResource;
  readonly actions: readonly EventAction[];
  /** Queueing hint: reports whether the event may help this Pod; always, if omitted. */
  readonly helps?: (pod: PodInfo, event: ClusterEvent) => boolean;
};

/** Reservation for a Pod that is assumed on a node. */
export type Reservation = {
  /** Runs before the binding, which is cancelled on failure. */
  preBind(signal: AbortSignal): Promise<void>;
  /** Releases the reservation of a Pod that is not bound. */
  unreserve(): void;
};

export type Plugin = {
  readonly name: string;
  /** Node-local: the result depends only on the Pod's spec and the node with its Pods, not on other nodes. */
  readonly isLocal?: boolean;
  /** Returns why a Pod must not enter the active queue. */
  readonly preEnqueue?: (pod: PodInfo) => string | undefined;
  readonly filter?: (pod: PodInfo, cluster: ClusterView) => Prepared;
  /** Undefined if the plugin does not distinguish the nodes. */
  readonly score?: (pod: PodInfo, cluster: ClusterView, nodes: readonly NodeInfo[]) => NodeScorer | undefined;
  /** Reserves resources for the Pod on its node. */
  readonly reserve?: (pod: PodInfo, node: NodeInfo) => Reservation | undefined;
  readonly events?: readonly Registration[];
};

export const maxNodeScore = 100;

/** Scales the scores so that the highest becomes 100; or, reversed, so that the highest becomes 0. */
export function normalizeByGreatest(scores: Float64Array, { isReversed = false } = {}): void {
  let greatest = 0;
  for (const score of scores) if (score > greatest) greatest = score;
  for (let index = 0; index < scores.length; index++) {
    const part = greatest === 0 ? 0 : Math.trunc((maxNodeScore * scores[index]!) / greatest);
    scores[index] = isReversed ? maxNodeScore - part : part;
  }
}
