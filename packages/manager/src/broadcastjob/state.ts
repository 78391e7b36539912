/** Derived state of one BroadcastJob reconcile: Pods by node, the phase of each Pod, and the nodes without a Pod. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { BroadcastJob } from '@kruise/api/kruise/broadcastjob';
import { isBeingDeleted } from '@kruise/client/actions';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { isPodActive } from '@kruise/machinery/pods';
import { compareStrings } from '@kruise/values/go-syntax';
import { nodeFilterFor } from './node-fit.ts';
import { hasOwnLabels } from './pods.ts';

export type Observed = {
  readonly job: BroadcastJob;
  /** Pods that the job controls. */
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
};

export type State = {
  readonly active: readonly Pod[];
  readonly succeeded: readonly Pod[];
  readonly failed: readonly Pod[];
  /** Number of nodes that have a Pod or need one. */
  readonly desired: number;
  /** Names of the nodes that need a Pod. */
  readonly nodesWithoutPod: readonly string[];
  /** Pods on nodes that they do not fit any more. */
  readonly misplaced: readonly Pod[];
  /** Set where the job has Pods, no node needs a Pod, and all Pods have finished. */
  readonly isDone: boolean;
  /** Duplicate Pods on a node. */
  readonly duplicates: readonly Pod[];
};

export function deriveState({ job, pods: controlled, nodes }: Observed): State {
  const pods = controlled.filter((pod) => hasOwnLabels(job, pod));
  const byNode = new Map<string, Pod>();
  const duplicates: Pod[] = [];
  for (const pod of pods) {
    const name = targetNodeOf(pod) ?? '';
    if (byNode.has(name)) duplicates.push(pod);
    byNode.set(name, pod);
  }
  const fitsTemplate = nodeFilterFor(job.spec.template.spec ?? { containers: [] });
  const nodesWithoutPod: string[] = [];
  const misplaced: Pod[] = [];
  const placed: Pod[] = [];
  for (const node of nodes.toSorted((a, b) => compareStrings(nameOf(a), nameOf(b)))) {
    const name = nameOf(node);
    const pod = byNode.get(name);
    if (!pod) {
      if (fitsTemplate(node)) nodesWithoutPod.push(name);
    } else if (isBeingDeleted(pod) || nodeFilterFor(pod.spec!)(node)) {
      placed.push(pod);
    } else {
      misplaced.push(pod);
    }
  }
  return {
    active: pods.filter((pod) => podStateOf(job, pod) === 'active'),
    succeeded: pods.filter((pod) => podStateOf(job, pod) === 'succeeded'),
    failed: pods.filter((pod) => podStateOf(job, pod) === 'failed'),
    desired: placed.length + nodesWithoutPod.length,
    nodesWithoutPod,
    misplaced,
    isDone: placed.length > 0 && nodesWithoutPod.length === 0 && !placed.some(isPodActive),
    duplicates,
  };
}

function nameOf({ metadata }: Node): string {
  return metadata.name ?? '';
}

/** Returns the state of a Pod; undefined for a Pod that is terminating before it has finished. */
function podStateOf({ spec }: BroadcastJob, pod: Pod): 'active' | 'succeeded' | 'failed' | undefined {
  if (pod.status?.phase === 'Succeeded') return 'succeeded';
  if (pod.status?.phase === 'Failed') return 'failed';
  if (isBeingDeleted(pod)) return undefined;
  const exceedsRestartLimit =
    pod.spec?.restartPolicy === 'OnFailure' && restartsOf(pod) > (spec.failurePolicy?.restartLimit ?? 0);
  return exceedsRestartLimit ? 'failed' : 'active';
}

function restartsOf({ status }: Pod): number {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
}
