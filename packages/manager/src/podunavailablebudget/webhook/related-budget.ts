import type { Pod } from '@kruise/api/core/pod';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import type { WebhookContext } from '../../webhooks/context.ts';
import { appliesToPod, ownersOf } from '../association.ts';
import { relatedTo } from '../pod-unavailable-budget.ts';

/** Annotates a Pod with the first PodUnavailableBudget that applies to it. */
export function withRelatedBudget(pod: Pod, { caches, settings: { gates } }: WebhookContext): Pod {
  if (!gates.PodUnavailableBudgetDeleteGate && !gates.PodUnavailableBudgetUpdateGate) return pod;
  const { metadata } = pod;
  const budgets = caches.of(podUnavailableBudget).list({ namespace: metadata.namespace ?? '' });
  if (budgets.length === 0) return pod;
  const owners = ownersOf(pod, caches);
  const budget = budgets.find((each) => appliesToPod(each, pod, owners));
  if (!budget) return pod;
  return { ...pod, metadata: { ...metadata, annotations: { ...metadata.annotations, ...relatedTo(budget) } } };
}
