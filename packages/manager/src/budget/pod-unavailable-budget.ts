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
  unavailablePodLabelPrefix,
} from '@kruise/api/kruise/well-known';
import { isEmptySelector } from '@kruise/api/meta/label-selector.validate';
import { isBeingDeleted } from '@kruise/client/actions';
import { selectorOf } from '@kruise/machinery/label-selector';
import { isPodReady } from '@kruise/machinery/pods';
import { formatTime, type Instant } from '@kruise/values/time';
import type { FeatureGates } from '../feature-gates.ts';
import { updateObstacle } from '../inplace/completion.ts';

export type BudgetAnswer =
  /** It may be done; where it costs something, this is the budget that is left. */
  | { readonly isAllowed: true; readonly left?: PodUnavailableBudget }
  | { readonly isAllowed: false; readonly why: string };

const allowed: BudgetAnswer = { isAllowed: true };

/** More Pods than this are not waited for at once. */
const mostRecorded = 2000;

/** The name of the budget a Pod belongs to. */
export function budgetNameOf({ metadata: { annotations = {} } }: Pod): string | undefined {
  return annotations[relatedBudgetAnnotation] ?? annotations[relatedBudgetLegacyAnnotation];
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
  if (Object.hasOwn(unavailablePods, name) || Object.hasOwn(disruptedPods, name)) return allowed;

  const refusal = `podunavailablebudget.policy.kruise.io "${budget.metadata.name}" is forbidden: `;
  if (unavailableAllowed <= 0) return { isAllowed: false, why: `${refusal}pub unavailable allowed is negative` };
  if (Object.keys(unavailablePods).length + Object.keys(disruptedPods).length > mostRecorded) {
    const tooMany = 'too many unavailable not confirmed by PUB controller';
    return { isAllowed: false, why: `${refusal}DisruptedPods and UnavailablePods map too big - ${tooMany}` };
  }
  const record = { [name]: formatTime(now) };
  const recorded =
    operation === 'UPDATE'
      ? { unavailablePods: { ...unavailablePods, ...record } }
      : { disruptedPods: { ...disruptedPods, ...record } };
  return {
    isAllowed: true,
    left: { ...budget, status: { ...status, ...recorded, unavailableAllowed: unavailableAllowed - 1 } },
  };
}

/** Whether there is anything to protect: a Pod that runs what it should, and can be relied on. */
function isAvailable(pod: Pod, gates: FeatureGates): boolean {
  const isMarked = Object.keys(pod.metadata.labels ?? {}).some((label) => label.startsWith(unavailablePodLabelPrefix));
  return (
    pod.status?.phase === 'Running' &&
    isPodReady(pod) &&
    !isBeingDeleted(pod) &&
    !isMarked &&
    updateObstacle(pod, gates) === undefined
  );
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
