/** Taints that controllers set on nodes. */
import type { Node, Taint } from '@kruise/api/core/node';
import { type PatchAction, patch } from '@kruise/client/actions';
import { formatTime, type Instant } from '@kruise/values/time';

/** Identity of a taint. */
export type TaintId = Pick<Taint, 'key' | 'effect'>;

export const notReadyKey = 'node.kubernetes.io/not-ready';
export const unreachableKey = 'node.kubernetes.io/unreachable';

/** Reports whether two taints have the same key and effect. */
export function isSameTaint(a: TaintId, b: TaintId): boolean {
  return a.key === b.key && a.effect === b.effect;
}

/** Reports whether a node has a taint. */
export function hasTaint({ spec }: Node, taint: TaintId): boolean {
  return spec?.taints?.some((each) => isSameTaint(each, taint)) ?? false;
}

/** Returns the taints of a node after adding and removing some; undefined if nothing changes. */
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

/** Patches the taints of a node. The list is replaced as a whole, so the resourceVersion is a precondition. */
export function patchTaints(node: Node, taints: readonly Taint[]): PatchAction {
  const { resourceVersion } = node.metadata;
  return patch(node, { metadata: { resourceVersion }, spec: { taints } });
}
