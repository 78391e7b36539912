/** Tolerations of node taints. */
import type { Taint } from '@kruise/api/core/node';
import type { Toleration } from '@kruise/api/core/toleration';

/** Reports whether a toleration matches a taint. A missing key or effect matches all. */
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

/** Reports whether any toleration matches a taint. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[] | undefined): boolean {
  return tolerations?.some((toleration) => tolerates(toleration, taint)) ?? false;
}

/**
 * Returns the first taint with one of the effects that is not tolerated.
 *
 * ```ts
 * const blocker = findUntolerated(worker.spec?.taints, web.spec?.tolerations, ['NoSchedule', 'NoExecute']);
 * ```
 */
export function findUntolerated(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly Taint['effect'][],
): Taint | undefined {
  return taints?.find((taint) => effects.includes(taint.effect) && !isTolerated(taint, tolerations));
}

/** Effects that exclude a node, as opposed to PreferNoSchedule. */
export const forbiddingEffects: readonly Taint['effect'][] = ['NoSchedule', 'NoExecute'];
