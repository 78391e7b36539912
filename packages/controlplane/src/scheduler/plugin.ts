/**
 * What plugins are. A plugin judges nodes for a Pod: whether it may go there (filter), and how well it would be placed
 * (score). It is told of the Pod once, and returns functions that are asked for one node after the other; it keeps
 * nothing from one Pod to the next.
 */
import type { ClusterView } from './cluster/cluster.ts';
import type { NodeInfo } from './cluster/node-info.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import type { ClusterEvent, EventAction, EventResource } from './events.ts';

/** Why a node, or all of them, will not do. */
export type Rejection = {
  readonly plugin: string;
  /** Whether it might do if Pods of less importance were not there. */
  readonly isPreemptable: boolean;
  readonly reasons: readonly string[];
};

/** Judges whether the Pod may go to a node. */
export type NodeFilter = {
  check(node: NodeInfo): Rejection | undefined;
  /** A filter of the same kind that can be told of Pods that come and go; where those of other nodes matter. */
  fork?(): ChangeableFilter;
};
export type ForkableFilter = Required<NodeFilter>;
export type ChangeableFilter = ForkableFilter & {
  change(pod: PodInfo, node: NodeInfo, by: 1 | -1): void;
};

/** What a plugin has to say of a Pod before any node is looked at. */
export type Prepared =
  /** Nothing: any node will do. */
  | undefined
  /** No node will do. */
  | { readonly rejection: Rejection }
  | {
      readonly filter: NodeFilter;
      /** The only nodes that can do. */
      readonly nodeNames?: ReadonlySet<string>;
    };

/** Judges how well the Pod would be placed on a node. */
export type NodeScorer = {
  score(node: NodeInfo): number;
  /** Brings the scores of all nodes, in the order of `nodes`, into the range from 0 to 100. */
  normalize?(scores: Float64Array): void;
};

/** An event that may make a node do that a plugin had rejected. */
export type Registration = {
  readonly resource: EventResource;
  readonly actions: readonly EventAction[];
  /** Whether it may help this Pod; where it is left out, it may help all. */
  readonly helps?: (pod: PodInfo, event: ClusterEvent) => boolean;
};

/** What is set aside for a Pod that is on its way to a node. */
export type Reservation = {
  /** Done before the Pod is bound, which it is not if this fails. */
  preBind(signal: AbortSignal): Promise<void>;
  /** The Pod does not get there. */
  unreserve(): void;
};

export type Plugin = {
  readonly name: string;
  /** Whether it judges a node by itself: by the Pod's spec and what is on the node, whatever is elsewhere. */
  readonly isLocal?: boolean;
  /** Why a Pod is not to be tried at all for now. */
  readonly preEnqueue?: (pod: PodInfo) => string | undefined;
  readonly filter?: (pod: PodInfo, cluster: ClusterView) => Prepared;
  /** Nothing where all nodes are alike to it. */
  readonly score?: (pod: PodInfo, cluster: ClusterView, nodes: readonly NodeInfo[]) => NodeScorer | undefined;
  /** Sets aside what the Pod needs on its node. */
  readonly reserve?: (pod: PodInfo, node: NodeInfo) => Reservation | undefined;
  readonly events?: readonly Registration[];
};

export const maxNodeScore = 100;

/** The scores as parts of the greatest one, which becomes 100; or, reversed, the other way round. */
export function normalizeByGreatest(scores: Float64Array, { isReversed = false } = {}): void {
  let greatest = 0;
  for (const score of scores) if (score > greatest) greatest = score;
  for (let index = 0; index < scores.length; index++) {
    const part = greatest === 0 ? 0 : Math.trunc((maxNodeScore * scores[index]!) / greatest);
    scores[index] = isReversed ? maxNodeScore - part : part;
  }
}
