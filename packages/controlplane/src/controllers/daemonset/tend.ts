/** Placement: exactly one Pod on each eligible node, and none elsewhere. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { compareDaemonPods } from '@kruise/machinery/daemon-pods';
import { isPodAvailable, isPodReady } from '@kruise/machinery/pods';
import type { NodeSituation } from './situation.ts';

/** Pods to create and delete. */
export type Chores = {
  /** Nodes that need one more Pod. */
  readonly starts: readonly string[];
  readonly stops: readonly Pod[];
};

/** Pods to create and delete, and ended Pods to report. */
export type Tending = Chores & {
  readonly ended: readonly { readonly pod: Pod; readonly node: string }[];
  /** Shortest remaining backoff of a failed Pod; undefined without backoff. */
  readonly waitMs: number | undefined;
};

/** Computes the placement of every node independently. */
export function tend(situation: NodeSituation): Tending {
  const { nodes, byNode } = situation;
  const starts: string[] = [];
  const stops: Pod[] = [];
  const ended: { readonly pod: Pod; readonly node: string }[] = [];
  let waitMs: number | undefined;
  for (const node of nodes) {
    const found = tendNode(situation, node);
    const name = node.metadata.name ?? '';
    if (found.isMissing) starts.push(name);
    stops.push(...found.stops);
    ended.push(...found.ended.map((pod) => ({ pod, node: name })));
    if (found.waitMs !== undefined) waitMs = Math.min(waitMs ?? found.waitMs, found.waitMs);
  }
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  for (const [node, pods] of byNode) {
    // The scheduler never places Pods that are assigned to a deleted node, and the Pod garbage collector does not
    // delete Pods without a node.
    if (!known.has(node)) stops.push(...pods.filter(({ spec }) => !spec?.nodeName));
  }
  return { starts, stops, ended, waitMs };
}

type NodeChores = {
  readonly isMissing: boolean;
  readonly stops: readonly Pod[];
  readonly ended: readonly Pod[];
  readonly waitMs?: number | undefined;
};

const nothing: NodeChores = { isMissing: false, stops: [], ended: [] };

function tendNode(situation: NodeSituation, node: Node): NodeChores {
  const { shouldRun, shouldContinue } = situation.placement(node);
  const pods = situation.byNode.get(node.metadata.name ?? '');
  if (!pods) return { ...nothing, isMissing: shouldRun };
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp == null);
  if (!shouldContinue) return { ...nothing, stops: staying };

  const { isLeaving = () => false } = situation;
  const { running, ended, waitMs } = sortOut(
    situation,
    node,
    staying.filter((pod) => !isLeaving(pod)),
  );
  const leaving = staying.filter(isLeaving);
  const sorted = running.toSorted(compareDaemonPods);
  const isMissing = situation.allowsSurge && sorted.length === 0 && shouldRun;
  const surplus = situation.allowsSurge ? outdone(situation, sorted) : sorted.slice(1);
  return { isMissing, stops: [...ended, ...leaving, ...surplus], ended, waitMs };
}

/** Separates running Pods from ended ones. A failed Pod is kept during the backoff of its node. */
function sortOut({ remainingBackOffMs }: NodeSituation, { metadata }: Node, pods: readonly Pod[]) {
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
function outdone({ hasHash, minReadySeconds, now }: NodeSituation, sorted: readonly Pod[]): readonly Pod[] {
  if (sorted.length <= 1) return [];
  const [newPod, ...surplusNew] = sorted.filter(hasHash);
  const [oldPod, ...surplusOld] = sorted.filter((pod) => !hasHash(pod));
  const surplus = [...surplusNew, ...surplusOld];
  if (!newPod || !oldPod) return surplus;
  return !isPodReady(oldPod) || isPodAvailable(newPod, minReadySeconds, now) ? [...surplus, oldPod] : surplus;
}
