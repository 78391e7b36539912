import type { DaemonSet } from '@kruise/api/apps/daemonset';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { Placement } from '@kruise/machinery/daemon-pods';
import { type IntOrString, scaleUp } from '@kruise/values/int-or-string';
import type { Instant } from '@kruise/values/time';

/** As much of a set with a Pod on every node, Kubernetes' DaemonSet or another's, as its Pods and revisions are made by. */
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

/** All that the decisions about a DaemonSet's nodes depend on. */
export type Situation = NodeSituation & { readonly set: DaemonSet };

/** All that it depends on what is to be done about nodes that are not as they should be. */
export type NodeSituation = {
  readonly nodes: readonly Node[];
  /** Its Pods, by the node they are on or meant for. */
  readonly byNode: ReadonlyMap<string, readonly Pod[]>;
  /** Whether a node is to have a Pod. */
  readonly placement: (node: Node) => Placement;
  /** Whether a Pod carries the hash of the present template. */
  readonly hasHash: (pod: Pod) => boolean;
  /** Whether a Pod is of the present template, be it from a time before there were hashes. */
  readonly isUpdated: (pod: Pod) => boolean;
  /** Whether a node may have a new Pod beside an old one. */
  readonly allowsSurge: boolean;
  readonly minReadySeconds: number;
  /** Whether a Pod is to go as soon as it may, whatever is wanted on its node by now. */
  readonly isLeaving?: (pod: Pod) => boolean;
  /** How long a failed Pod of a node is left, because others failed there before. */
  readonly remainingBackOffMs: (nodeName: string) => number;
  readonly now: Instant;
};

/** How many nodes may have two Pods, or none that is available, during an update; of so many that are to have one. */
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
