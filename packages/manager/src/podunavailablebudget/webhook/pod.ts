import type { Pod } from '@kruise/api/core/pod';
import { type ProtectedOperation, podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { type AdmissionDecision, deny } from '@kruise/client/webhook';
import { controllerOf } from '@kruise/machinery/owner-references';
import { failure, isNotFound, StatusError } from '@kruise/machinery/status';
import type { WebhookContext } from '../../webhooks/context.ts';
import type { PodOperation } from '../../webhooks/pod/validating.ts';
import { type BudgetAnswer, budgetNameOf, checkBudget } from '../pod-unavailable-budget.ts';
import { operationOf } from '../update-operation.ts';

/**
 * Delays after conflicts. The first retries read live at once, because the cache was stale. Many concurrent deletions
 * make the controller recalculate the budget repeatedly, so later retries give it time to finish.
 */
const retryDelaysMs = [0, 0, 0, 500, 500];

/**
 * Checks the budget of a Pod before an operation makes the Pod unavailable, and charges the operation to the budget.
 */
export async function spendBudget(
  interference: PodOperation,
  context: WebhookContext,
): Promise<AdmissionDecision<never> | undefined> {
  const { pod, isDryRun } = interference;
  const name = budgetNameOf(pod);
  const operation = name === undefined ? undefined : operationIn(interference, context);
  if (name === undefined || !operation) return undefined;
  const { caches, statusUpdater, now } = context;
  const { gates } = context.settings;
  const { namespace = '' } = pod.metadata;
  const found = caches.of(podUnavailableBudget).get({ namespace, name });
  const guess = checkBudget(found, pod, operation, gates, now());
  if (!found || isIndependentOfRecords(guess)) return undefined;

  let answer: BudgetAnswer | undefined;
  try {
    answer = await statusUpdater.update(
      podUnavailableBudget,
      found,
      (newest) => {
        const result = checkBudget(newest, pod, operation, gates, now());
        const left = result.isAllowed && !isDryRun ? result.left : undefined;
        // The record may have expired, and its share of the budget may have been given to another Pod.
        return { result, needsLiveRead: result.isAllowed && !result.left, ...(left ? { object: left } : {}) };
      },
      retryDelaysMs,
    );
  } catch (error) {
    // A deleted budget allows everything.
    if (isNotFound(error)) return undefined;
    if (error instanceof StatusError) return refusal(operation, error.message);
    throw error;
  }
  if (!answer || answer.isAllowed) return undefined;
  if (!isDryRun) reportRefusal(interference, context);
  return refusal(operation, answer.why);
}

/** Returns the operation of a request; undefined if budgets do not cover it. */
function operationIn(
  { operation, pod, updated }: PodOperation,
  { settings: { gates } }: WebhookContext,
): ProtectedOperation | undefined {
  if (operation !== 'UPDATE') return gates.PodUnavailableBudgetDeleteGate ? operation : undefined;
  if (!gates.PodUnavailableBudgetUpdateGate || !updated || budgetNameOf(updated) === undefined) return undefined;
  return operationOf(pod, updated);
}

/** Reports whether the answer does not depend on the records of a budget. */
function isIndependentOfRecords(answer: BudgetAnswer): boolean {
  return answer.isAllowed && !answer.left && !answer.isRecorded;
}

/** Refuses an operation. Clients that drain nodes retry on status 429. (OpenKruise answers 403 to them, too.) */
function refusal(operation: ProtectedOperation, message: string): AdmissionDecision<never> {
  if (operation !== 'EVICT') return deny(message);
  return { denial: failure({ code: 429, reason: 'TooManyRequests', message }) };
}

/** Records an event on the Pod, and reports the refused deletion to the log. */
function reportRefusal({ pod, username }: PodOperation, { record, onProtected }: WebhookContext): void {
  record?.({
    about: pod,
    type: 'Warning',
    reason: 'PubPreventPodDeletion',
    message: 'openkruise pub prevents pod deletion',
  });
  onProtected?.({ event: 'PodUnavailableBudget', ...ownerOf(pod), username });
}

function ownerOf(pod: Pod) {
  const { kind, name } = controllerOf(pod) ?? { kind: 'unknown', name: pod.metadata.name ?? '' };
  return { kind, name, namespace: pod.metadata.namespace || 'default' };
}
