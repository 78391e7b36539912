/** Placement: exactly one Pod on each eligible node, and none elsewhere. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { compareDaemonPods } from '@kruise/machinery/daemon-pods';
import { isPodAvailable, isPodReady } from '@kruise/machinery/pods';
import type { PlacementState } from './state.ts';

/** Pods to create and delete. */
export type PodChanges = {
  /** Nodes that need one more Pod. */
  readonly nodesNeedingPods: readonly string[];
  readonly podsToDelete: readonly Pod[];
};

/** Pods to create and delete, and ended Pods to report. */
export type PlacementResult = PodChanges & {
  readonly ended: readonly { readonly pod: Pod; readonly node: string }[];
  /** Shortest remaining backoff of a failed Pod; undefined without backoff. */
  readonly waitMs: number | undefined;
};

/** Computes the placement of every node independently. */
export function placePods(state: PlacementState): PlacementResult {
  const { nodes, byNode } = state;
  const nodesNeedingPods: string[] = [];
  const podsToDelete: Pod[] = [];
  const ended: { readonly pod: Pod; readonly node: string }[] = [];
  let waitMs: number | undefined;
  for (const node of nodes) {
    const found = placePodsOnNode(state, node);
    const name = node.metadata.name ?? '';
    if (found.isMissing) nodesNeedingPods.push(name);
    podsToDelete.push(...found.podsToDelete);
    ended.push(...found.ended.map((pod) => ({ pod, node: name })));
    if (found.waitMs !== undefined) waitMs = Math.min(waitMs ?? found.waitMs, found.waitMs);
  }
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  for (const [node, pods] of byNode) {
    // The scheduler never places Pods that are assigned to a deleted node, and the Pod garbage collector does not
    // delete Pods without a node.
    if (!known.has(node)) podsToDelete.push(...pods.filter(({ spec }) => !spec?.nodeName));
  }
  return { nodesNeedingPods, podsToDelete, ended, waitMs };
}

type NodePodChanges = {
  readonly isMissing: boolean;
  readonly podsToDelete: readonly Pod[];
  readonly ended: readonly Pod[];
  readonly waitMs?: number | undefined;
};

const nothing: NodePodChanges = { isMissing: false, podsToDelete: [], ended: [] };

function placePodsOnNode(state: PlacementState, node: Node): NodePodChanges {
  const { shouldRun, shouldContinue } = state.placement(node);
  const pods = state.byNode.get(node.metadata.name ?? '');
  if (!pods) return { ...nothing, isMissing: shouldRun };
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp == null);
  if (!shouldContinue) return { ...nothing, podsToDelete: staying };

  const { mustDelete = () => false } = state;
  const { running, ended, waitMs } = splitEndedPods(
    state,
    node,
    staying.filter((pod) => !mustDelete(pod)),
  );
  const condemned = staying.filter(mustDelete);
  const sorted = running.toSorted(compareDaemonPods);
  const isMissing = state.allowsSurge && sorted.length === 0 && shouldRun;
  const surplus = state.allowsSurge ? surgeSurplus(state, sorted) : sorted.slice(1);
  return { isMissing, podsToDelete: [...ended, ...condemned, ...surplus], ended, waitMs };
}

/** Separates running Pods from ended ones. A failed Pod is kept during the backoff of its node. */
function splitEndedPods({ remainingBackOffMs }: PlacementState, { metadata }: Node, pods: readonly Pod[]) {
  const running: Pod[] = [];
  const ended: Pod[] = [];
  let waitMs: number | undefined;
  for (const pod of pods) {
    const phase = pod.status?.phase;
    if (phase === 'Failed') {
      const remainingMs = remainingBackOffMs(metadata.name ?? '');
      if (remainingMs > 0) waitMs = remainingMs;
      else ended.push(pod);
    } else if (phase === 'Succeeded') {
      ended.push(pod);
    } else {
      running.push(pod);
    }
  }
  return { running, ended, waitMs };
}

/**
 * Returns the Pods to delete on a node with surge: all but the oldest Pod of each revision, and the old Pod as soon as
 * it is unavailable or the new Pod is available.
 */
function surgeSurplus({ hasHash, minReadySeconds, now }: PlacementState, sorted: readonly Pod[]): readonly Pod[] {
  if (sorted.length <= 1) return [];
  const [newPod, ...surplusNew] = sorted.filter(hasHash);
  const [oldPod, ...surplusOld] = sorted.filter((pod) => !hasHash(pod));
  const surplus = [...surplusNew, ...surplusOld];
  if (!newPod || !oldPod) return surplus;
  return !isPodReady(oldPod) || isPodAvailable(newPod, minReadySeconds, now) ? [...surplus, oldPod] : surplus;
}
