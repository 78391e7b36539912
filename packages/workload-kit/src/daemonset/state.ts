import type { DaemonSet } from '@kruise/api/apps/daemonset';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { Placement } from '@kruise/machinery/daemon-pods';
import { type IntOrString, scaleUp } from '@kruise/values/int-or-string';
import type { Instant } from '@kruise/values/time';

/**
 * Part of a workload with a Pod on every node (DaemonSet or Advanced DaemonSet) that Pods and revisions are created
 * from.
 */
export type NodeSet = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly template?: PodTemplateSpec;
    readonly revisionHistoryLimit?: number;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxSurge?: IntOrString; readonly maxUnavailable?: IntOrString };
    };
  };
  readonly status?: { readonly collisionCount?: number; readonly observedGeneration?: number };
};

/** State of one DaemonSet reconcile. */
export type State = PlacementState & { readonly set: DaemonSet };

/** State that determines the Pods of each node. */
export type PlacementState = {
  readonly nodes: readonly Node[];
  /** Pods by the node they run on or are assigned to. */
  readonly byNode: ReadonlyMap<string, readonly Pod[]>;
  /** Reports whether a node should have a Pod. */
  readonly placement: (node: Node) => Placement;
  /** Reports whether a Pod has the hash label of the current template. */
  readonly hasHash: (pod: Pod) => boolean;
  /** Reports whether a Pod is at the current template, including Pods that predate hash labels. */
  readonly isUpdated: (pod: Pod) => boolean;
  /** Reports whether a node may have a new Pod beside an old one. */
  readonly allowsSurge: boolean;
  readonly minReadySeconds: number;
  /** Reports whether a Pod must be deleted as soon as possible, regardless of the placement on its node. */
  readonly mustDelete?: (pod: Pod) => boolean;
  /** Returns how long a failed Pod of a node is kept because earlier Pods failed there. */
  readonly remainingBackOffMs: (nodeName: string) => number;
  readonly now: Instant;
};

/**
 * Returns how many nodes may have two Pods, and how many may have no available Pod, during an update of the desired
 * number of nodes.
 */
export function updateBudget(
  { spec }: NodeSet,
  desired: number,
): { readonly maxSurge: number; readonly maxUnavailable: number } {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {};
  if (type !== 'RollingUpdate') return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = scaleUp(rollingUpdate?.maxSurge ?? 0, desired);
  const maxUnavailable = scaleUp(rollingUpdate?.maxUnavailable ?? 0, desired);
  return { maxSurge, maxUnavailable: desired > 0 && maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}
