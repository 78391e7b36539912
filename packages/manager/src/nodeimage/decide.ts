/** NodeImage reconciler: keeps a NodeImage for every node, and removes tags without owners. */
import type { Node } from '@kruise/api/core/node';
import type { ObjectReference } from '@kruise/api/core/reference';
import type { NodeImage, NodeImageStatus } from '@kruise/api/kruise/nodeimage';
import { fakeNodeImageLabel } from '@kruise/api/kruise/well-known';
import { create, isBeingDeleted, remove, update } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { Instant } from '@kruise/values/time';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { readyTimeOf } from '../workload/nodes.ts';
import { failOverdue } from './overdue.ts';
import { prune } from './prune.ts';

export type Observed = {
  readonly name: string;
  /** The node, unless it is terminating. */
  readonly node: Node | undefined;
  readonly nodeImage: NodeImage | undefined;
  /** Reports whether the owning job still exists, finished or not. True for owners of other kinds. */
  readonly ownerExists: (owner: ObjectReference) => boolean;
  readonly hasSecret: (secret: { readonly namespace?: string; readonly name?: string }) => boolean;
};

type Settings = { readonly nodeImageCreationDelayMs: number };

/** Minimum requeue delay. */
const shortestWaitSeconds = 3;

export function decide(observed: Observed, settings: Settings, now: Instant): Decision<NodeImageStatus> {
  const { name, node, nodeImage } = observed;
  if (!nodeImage) return node ? createFor(name, node, settings, now) : { actions: [] };
  if (isBeingDeleted(nodeImage)) return { actions: [] };
  if (!node && nodeImage.metadata.labels?.[fakeNodeImageLabel] === undefined) return { actions: [remove(nodeImage)] };

  const pruned = prune(nodeImage, observed, now);
  // The status depends on the spec, so the spec is updated first.
  if (pruned.nodeImage !== nodeImage) return { actions: [update(pruned.nodeImage)] };
  const overdue = failOverdue(nodeImage, now);
  const wait = earliestRequeue(pruned.waitSeconds, overdue.waitSeconds).requeueAfterSeconds;
  return {
    actions: [],
    ...(overdue.status ? { status: overdue.status, events: overdue.events } : {}),
    ...(wait === undefined ? {} : { requeueAfterSeconds: Math.max(wait, shortestWaitSeconds) }),
  };
}

/** Creates the NodeImage after a delay: a node that has just become ready may have no running daemon yet. */
function createFor(
  name: string,
  node: Node,
  { nodeImageCreationDelayMs }: Settings,
  now: Instant,
): Decision<NodeImageStatus> {
  const readySince = readyTimeOf(node);
  if (readySince === undefined) return { actions: [] };
  const waitMs = readySince + nodeImageCreationDelayMs - now;
  if (waitMs > 0) return { actions: [], requeueAfterSeconds: waitMs / 1000 };
  const made: NodeImage = { apiVersion: 'apps.kruise.io/v1beta1', kind: 'NodeImage', metadata: { name }, spec: {} };
  return { actions: [create(made)] };
}
