import type { Pod } from '@kruise/api/core/pod';
import { type ProtectedOperation, podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { deny, type Verdict } from '@kruise/client/webhook';
import { controllerOf } from '@kruise/machinery/owner-references';
import { failure, isNotFound, StatusError } from '@kruise/machinery/status';
import { askBudget, type BudgetAnswer, budgetNameOf } from '../../budget/pod-unavailable-budget.ts';
import { operationOf } from '../../budget/update-operation.ts';
import type { WebhookContext } from '../context.ts';
import type { Interference } from './validating.ts';

/**
 * Who is overtaken asks the server at once, as the cache was behind; many deletions at once have the budget counted again
 * and again. Whoever wrote then gets time to be done.
 */
const waitsMs = [0, 0, 0, 500, 500];

/** Asks the budget of a Pod before something makes the Pod unavailable, and takes it from the budget (protection.md §A8). */
export async function spendBudget(
  interference: Interference,
  context: WebhookContext,
): Promise<Verdict<never> | undefined> {
  const { pod, isDryRun } = interference;
  const name = budgetNameOf(pod);
  const operation = name === undefined ? undefined : operationIn(interference, context);
  if (name === undefined || !operation) return undefined;
  const { caches, ledger, now } = context;
  const { gates } = context.settings;
  const { namespace = '' } = pod.metadata;
  const found = caches.of(podUnavailableBudget).get({ namespace, name });
  const guess = askBudget(found, pod, operation, gates, now());
  if (!found || isFree(guess)) return undefined;

  let answer: BudgetAnswer | undefined;
  try {
    answer = await ledger.enter(
      podUnavailableBudget,
      found,
      (newest) => {
        const result = askBudget(newest, pod, operation, gates, now());
        const left = result.isAllowed && !isDryRun ? result.left : undefined;
        // A record may have been forgotten, and what it stood for been given to another.
        return { result, isDoubtful: result.isAllowed && !result.left, ...(left ? { object: left } : {}) };
      },
      waitsMs,
    );
  } catch (error) {
    // What a budget that is gone would have said concerns nobody.
    if (isNotFound(error)) return undefined;
    if (error instanceof StatusError) return refusal(operation, error.message);
    throw error;
  }
  if (!answer || answer.isAllowed) return undefined;
  if (!isDryRun) tell(interference, context);
  return refusal(operation, answer.why);
}

/** What is about to be done, if budgets are asked about it at all. */
function operationIn(
  { operation, pod, updated }: Interference,
  { settings: { gates } }: WebhookContext,
): ProtectedOperation | undefined {
  if (operation !== 'UPDATE') return gates.PodUnavailableBudgetDeleteGate ? operation : undefined;
  if (!gates.PodUnavailableBudgetUpdateGate || !updated || budgetNameOf(updated) === undefined) return undefined;
  return operationOf(pod, updated);
}

/** Whether nothing that a budget has recorded could change the answer. */
function isFree(answer: BudgetAnswer): boolean {
  return answer.isAllowed && !answer.left && !answer.isRecorded;
}

/** Those who drain nodes try again what there were too many requests for (the reference says 403 to them, too). */
function refusal(operation: ProtectedOperation, message: string): Verdict<never> {
  if (operation !== 'EVICT') return deny(message);
  return { refusal: failure({ code: 429, reason: 'TooManyRequests', message }) };
}

/** Notes that a Pod was protected: for whoever looks at it, and for the log. */
function tell({ pod, username }: Interference, { record, onProtected }: WebhookContext): void {
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
