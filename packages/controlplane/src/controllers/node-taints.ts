/** The taints that controllers put on nodes, and what it takes to put them there. */
import type { Node, Taint } from '@kruise/api/core/node';
import { type PatchAction, patch } from '@kruise/client/actions';
import { formatTime, type Instant } from '@kruise/values/time';

/** What tells one taint of a node from another. */
export type TaintId = Pick<Taint, 'key' | 'effect'>;

export const notReadyKey = 'node.kubernetes.io/not-ready';
export const unreachableKey = 'node.kubernetes.io/unreachable';

/** Whether two taints are the same, whatever their value. */
export function isSameTaint(a: TaintId, b: TaintId): boolean {
  return a.key === b.key && a.effect === b.effect;
}

/** Whether a node has a taint. */
export function hasTaint({ spec }: Node, taint: TaintId): boolean {
  return spec?.taints?.some((each) => isSameTaint(each, taint)) ?? false;
}

/** The taints of a node with some put on and some taken off; undefined where that changes nothing. */
export function changedTaints(
  { spec }: Node,
  { add = [], drop = [] }: { readonly add?: readonly TaintId[]; readonly drop?: readonly TaintId[] },
  now: Instant,
): readonly Taint[] | undefined {
  const present = spec?.taints ?? [];
  const kept = present.filter((taint) => !drop.some((each) => isSameTaint(each, taint)));
  const added = add.filter((taint) => !present.some((each) => isSameTaint(each, taint)));
  if (kept.length === present.length && added.length === 0) return undefined;
  return [...kept, ...added.map(({ key, effect }) => ({ key, effect, timeAdded: formatTime(now) }))];
}

/** Gives a node other taints, unless somebody else changed the node meanwhile: the list is replaced as a whole. */
export function patchTaints(node: Node, taints: readonly Taint[]): PatchAction {
  const { resourceVersion } = node.metadata;
  return patch(node, { metadata: { resourceVersion }, spec: { taints } });
}
