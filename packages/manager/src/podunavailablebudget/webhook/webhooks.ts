import {
  type PodUnavailableBudget,
  podUnavailableBudget,
  podUnavailableBudgetV1alpha1,
} from '@kruise/api/kruise/podunavailablebudget';
import type { Webhook } from '@kruise/client/webhook';
import { StatusError } from '@kruise/machinery/status';
import {
  handler,
  refuse,
  refuseFaults,
  unsupportedVersion,
  versionOf,
  type WebhookContext,
} from '../../webhooks/context.ts';
import { inStoredVersion } from '../../webhooks/stored-version.ts';
import { validateBudget } from './validate.ts';

const closed =
  'feature PodUnavailableBudget is invalid, please open via ' +
  'feature-gate(PodUnavailableBudgetDeleteGate, PodUnavailableBudgetUpdateGate)';

export function podUnavailableBudgetValidating({ caches, settings: { gates } }: WebhookContext): Webhook {
  return handler<PodUnavailableBudget>((request) => {
    if (!gates.PodUnavailableBudgetDeleteGate && !gates.PodUnavailableBudgetUpdateGate) return refuse(400, closed);
    const version = versionOf(request);
    if (version !== 'v1alpha1' && version !== 'v1beta1') return unsupportedVersion(request);
    const budget = read(request.object, 'v1alpha1');
    if (typeof budget === 'string') return refuse(400, budget);
    const old = request.oldObject && read(request.oldObject, 'old v1alpha1');
    if (typeof old === 'string') return refuse(400, old);
    const namespace = budget.metadata.namespace ?? request.namespace ?? '';
    return refuseFaults(validateBudget(budget, old, caches.of(podUnavailableBudget).list({ namespace })), 400);
  });
}

/** Returns a budget in the storage version, or the reason why it cannot be converted. */
function read(object: unknown, called: string): PodUnavailableBudget | string {
  try {
    return inStoredVersion(podUnavailableBudget, podUnavailableBudgetV1alpha1, object);
  } catch (error) {
    if (error instanceof StatusError) return `failed to convert ${called} PUB to v1beta1: ${error.message}`;
    throw error;
  }
}
