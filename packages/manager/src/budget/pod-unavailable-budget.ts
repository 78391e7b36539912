/**
 * What a PodUnavailableBudget says to whatever makes a Pod unavailable (pod-admission.md §3.3). Webhooks ask it for
 * everybody, workloads for themselves before they begin: a Pod that is drained already cannot be refused any more.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { PodUnavailableBudget, ProtectedOperation } from '@kruise/api/kruise/podunavailablebudget';
import {
  noProtectAnnotation,
  protectOperationsAnnotation,
  relatedBudgetAnnotation,
  relatedBudgetLegacyAnnotation,
} from '@kruise/api/kruise/well-known';
import { isEmptySelector } from '@kruise/api/meta/label-selector.validate';
import { selectorOf } from '@kruise/machinery/label-selector';
import { formatTime, type Instant } from '@kruise/values/time';
import type { FeatureGates } from '../feature-gates.ts';
import { isAvailable } from './availability.ts';

export type BudgetAnswer =
  /** It may be done; where it costs something, this is the budget that is left. It may have been paid for before. */
  | { readonly isAllowed: true; readonly left?: PodUnavailableBudget; readonly isRecorded?: true }
  | { readonly isAllowed: false; readonly why: string };

const allowed: BudgetAnswer = { isAllowed: true };
const recorded: BudgetAnswer = { isAllowed: true, isRecorded: true };

/** More Pods than this are not waited for at once. */
const mostRecorded = 2000;

/** The name of the budget a Pod belongs to. */
export function budgetNameOf({ metadata: { annotations = {} } }: Pod): string | undefined {
  return annotations[relatedBudgetAnnotation] || annotations[relatedBudgetLegacyAnnotation] || undefined;
}

/** The annotations of a Pod that belongs to a budget; older releases read the second. */
export function relatedTo({ metadata: { name = '' } }: PodUnavailableBudget): { readonly [key: string]: string } {
  return { [relatedBudgetAnnotation]: name, [relatedBudgetLegacyAnnotation]: name };
}

export function askBudget(
  budget: PodUnavailableBudget | undefined,
  pod: Pod,
  operation: ProtectedOperation,
  gates: FeatureGates,
  now: Instant,
): BudgetAnswer {
  if (!budget || isTrue(pod.metadata.annotations?.[noProtectAnnotation]) || !isAvailable(pod, gates)) return allowed;
  const { spec, status } = budget;
  const { ignoredPodSelector: ignored } = spec;
  if (ignored && !isEmptySelector(ignored) && selectorOf(ignored).matches(pod.metadata.labels)) return allowed;
  if (!status || status.desiredAvailable === 0 || !isProtected(budget, operation, gates)) return allowed;
  const { unavailablePods = {}, disruptedPods = {}, unavailableAllowed } = status;
  const { name = '' } = pod.metadata;
  if (Object.hasOwn(unavailablePods, name) || Object.hasOwn(disruptedPods, name)) return recorded;

  const refusal = `podunavailablebudget.policy.kruise.io "${budget.metadata.name}" is forbidden: `;
  if (unavailableAllowed <= 0) return { isAllowed: false, why: `${refusal}pub unavailable allowed is negative` };
  if (Object.keys(unavailablePods).length + Object.keys(disruptedPods).length > mostRecorded) {
    const tooMany = 'too many unavailable not confirmed by PUB controller';
    return { isAllowed: false, why: `${refusal}DisruptedPods and UnavailablePods map too big - ${tooMany}` };
  }
  const record = { [name]: formatTime(now) };
  const records =
    operation === 'UPDATE'
      ? { unavailablePods: { ...unavailablePods, ...record } }
      : { disruptedPods: { ...disruptedPods, ...record } };
  return {
    isAllowed: true,
    left: { ...budget, status: { ...status, ...records, unavailableAllowed: unavailableAllowed - 1 } },
  };
}

const usuallyProtected: readonly string[] = ['DELETE', 'UPDATE', 'EVICT'];

function isProtected({ spec, metadata }: PodUnavailableBudget, operation: string, gates: FeatureGates): boolean {
  const { protectOperations = [] } = spec;
  const annotated = (metadata.annotations?.[protectOperationsAnnotation] ?? '')
    .split(',')
    .flatMap((each) => each.trim() || []);
  const given = protectOperations.length > 0 ? protectOperations : annotated;
  const operations: readonly string[] = given.length > 0 ? given : usuallyProtected;
  if (operations.includes(operation)) return true;
  // Where nobody tells resizes from other updates, they are updates.
  return operation === 'RESIZE' && !gates.InPlacePodVerticalScaling && operations.includes('UPDATE');
}

/** True in the words of Go's ParseBool. */
function isTrue(text = ''): boolean {
  return ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text);
}
