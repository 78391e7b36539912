import type { Pod } from '@kruise/api/core/pod';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { isForPod, ownersOf } from '../../budget/association.ts';
import { relatedTo } from '../../budget/pod-unavailable-budget.ts';
import type { WebhookContext } from '../context.ts';

/** Notes on a Pod which budget it belongs to: the first that is for it (pod-admission.md §2.3). */
export function withRelatedBudget(pod: Pod, { caches, settings: { gates } }: WebhookContext): Pod {
  if (!gates.PodUnavailableBudgetDeleteGate && !gates.PodUnavailableBudgetUpdateGate) return pod;
  const { metadata } = pod;
  const budgets = caches.of(podUnavailableBudget).list({ namespace: metadata.namespace ?? '' });
  if (budgets.length === 0) return pod;
  const owners = ownersOf(pod, caches);
  const budget = budgets.find((each) => isForPod(each, pod, owners));
  if (!budget) return pod;
  return { ...pod, metadata: { ...metadata, annotations: { ...metadata.annotations, ...relatedTo(budget) } } };
}
