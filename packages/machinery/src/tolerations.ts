/** Which taints of a node a Pod puts up with. */
import type { Taint } from '@kruise/api/core/node';
import type { Toleration } from '@kruise/api/core/toleration';

/** Whether a toleration is for a taint. Where it leaves out the key or the effect, it is for all of them. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  switch (toleration.operator || 'Equal') {
    case 'Exists':
      return true;
    case 'Equal':
      return (toleration.value ?? '') === (taint.value ?? '');
    default:
      return false;
  }
}

/** Whether any of the tolerations is for a taint. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[] | undefined): boolean {
  return tolerations?.some((toleration) => tolerates(toleration, taint)) ?? false;
}

/** The first taint that is not tolerated, of those with one of the effects. */
export function findUntolerated(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly Taint['effect'][],
): Taint | undefined {
  return taints?.find((taint) => effects.includes(taint.effect) && !isTolerated(taint, tolerations));
}

/** The effects that keep a Pod off a node, rather than make it a lesser choice. */
export const forbiddingEffects: readonly Taint['effect'][] = ['NoSchedule', 'NoExecute'];
