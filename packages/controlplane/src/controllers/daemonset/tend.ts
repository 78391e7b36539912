/** One Pod on each node that is to have one, and none elsewhere. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { compareDaemonPods } from '@kruise/machinery/daemon-pods';
import { isPodAvailable, isPodReady } from '@kruise/machinery/pods';
import type { NodeSituation } from './situation.ts';

/** What is to be done on nodes. */
export type Chores = {
  /** The nodes that are to have one Pod more. */
  readonly starts: readonly string[];
  readonly stops: readonly Pod[];
};

/** What is to be done on nodes, and what is to be said of Pods that have ended. */
export type Tending = Chores & {
  readonly ended: readonly { readonly pod: Pod; readonly node: string }[];
  /** How long Pods that failed before are left, at least; undefined if none is. */
  readonly waitMs: number | undefined;
};

/** Looks after every node by itself. */
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
    // No scheduler will ever find their node, and what has no node is not collected with it.
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

/** Tells Pods that run from those that have ended. One that failed stays for a while if others did so before it. */
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
 * The Pods of a node that are to go where an old one may stay until the new one can take over: all but the oldest of
 * each, and the old one as soon as it serves nobody, or the new one does.
 */
function outdone({ hasHash, minReadySeconds, now }: NodeSituation, sorted: readonly Pod[]): readonly Pod[] {
  if (sorted.length <= 1) return [];
  const [newPod, ...surplusNew] = sorted.filter(hasHash);
  const [oldPod, ...surplusOld] = sorted.filter((pod) => !hasHash(pod));
  const surplus = [...surplusNew, ...surplusOld];
  if (!newPod || !oldPod) return surplus;
  return !isPodReady(oldPod) || isPodAvailable(newPod, minReadySeconds, now) ? [...surplus, oldPod] : surplus;
}
