/**
 * Decision of a PodUnavailableBudget about an operation that makes a Pod unavailable. Webhooks check the budget for all
 * clients. Workload controllers check it themselves before they start, because a Pod that is already drained cannot be
 * refused any more.
 */

import type { Pod } from '@kruise/api/core/pod';
import type {
  PodUnavailableBudget,
  PodUnavailableBudgetStatus,
  ProtectedOperation,
} from '@kruise/api/kruise/podunavailablebudget';
import {
  noProtectAnnotation,
  protectOperationsAnnotation,
  relatedBudgetAnnotation,
  relatedBudgetLegacyAnnotation,
} from '@kruise/api/kruise/well-known';
import { isEmptySelector, selects } from '@kruise/api/meta/label-selector.validate';
import type { KubernetesObject } from '@kruise/client/object-key';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import type { FeatureGates } from '../configuration/feature-gates.ts';
import { isAvailable } from './availability.ts';

export type BudgetAnswer =
  /**
   * The operation is allowed. `left` is the remaining budget, if the operation uses any. It may have been recorded
   * before.
   */
  | { readonly isAllowed: true; readonly left?: PodUnavailableBudget; readonly isRecorded?: true }
  | { readonly isAllowed: false; readonly why: string };

const allowed: BudgetAnswer = { isAllowed: true };
const recorded: BudgetAnswer = { isAllowed: true, isRecorded: true };

/** Maximum number of Pods whose disruption may be pending at once. */
const maxRecordedPods = 2000;

/** A record of this age may expire before the recorded operation is done, so it is renewed. */
const reliableMs = 5000;

/** Returns the name of the budget that a Pod belongs to. */
export function budgetNameOf({
  metadata: { annotations = {} },
}: Pick<KubernetesObject, 'metadata'>): string | undefined {
  return annotations[relatedBudgetAnnotation] || annotations[relatedBudgetLegacyAnnotation] || undefined;
}

/** Returns the annotations of a Pod that belongs to a budget. Older releases read the second one. */
export function relatedTo({ metadata: { name = '' } }: PodUnavailableBudget): { readonly [key: string]: string } {
  return { [relatedBudgetAnnotation]: name, [relatedBudgetLegacyAnnotation]: name };
}

export function checkBudget(
  budget: PodUnavailableBudget | undefined,
  pod: Pod,
  operation: ProtectedOperation,
  gates: FeatureGates,
  now: Instant,
): BudgetAnswer {
  if (!budget || isTrue(pod.metadata.annotations?.[noProtectAnnotation]) || !isAvailable(pod, gates)) return allowed;
  const { spec, status } = budget;
  const { ignoredPodSelector: ignored } = spec;
  if (ignored && !isEmptySelector(ignored) && selects(ignored, pod.metadata.labels)) return allowed;
  if (!status || status.desiredAvailable === 0 || !isProtected(budget, operation, gates)) return allowed;
  const { name = '' } = pod.metadata;
  const list = lists.find((each) => Object.hasOwn(status[each] ?? {}, name));
  if (list) {
    const isReliable = now - parseTime(status[list]![name]!) < reliableMs;
    return isReliable ? recorded : { isAllowed: true, left: withRecord(budget, status, list, name, now) };
  }
  const fault = faultOf(status);
  if (fault !== undefined) {
    const why = `podunavailablebudget.policy.kruise.io "${budget.metadata.name}" is forbidden: ${fault}`;
    return { isAllowed: false, why };
  }
  const charged = { ...status, unavailableAllowed: status.unavailableAllowed - 1 };
  const left = withRecord(budget, charged, operation === 'UPDATE' ? 'unavailablePods' : 'disruptedPods', name, now);
  return { isAllowed: true, left };
}

/** The status fields with the recorded operations. */
const lists = ['unavailablePods', 'disruptedPods'] as const;

type Status = PodUnavailableBudgetStatus;

function withRecord(
  budget: PodUnavailableBudget,
  status: Status,
  list: (typeof lists)[number],
  pod: string,
  now: Instant,
): PodUnavailableBudget {
  return { ...budget, status: { ...status, [list]: { ...status[list], [pod]: formatTime(now) } } };
}

/** Returns the reason why a budget allows no further disruption; undefined if it allows one. */
function faultOf({ unavailableAllowed, disruptedPods = {}, unavailablePods = {} }: Status): string | undefined {
  if (unavailableAllowed <= 0) return 'pub unavailable allowed is negative';
  if (Object.keys(disruptedPods).length + Object.keys(unavailablePods).length <= maxRecordedPods) return undefined;
  const why = 'too many unavailable not confirmed by PUB controller';
  return `DisruptedPods and UnavailablePods map too big - ${why}`;
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
  // Without the gate, resizes are not distinguished from other updates.
  return operation === 'RESIZE' && !gates.InPlacePodVerticalScaling && operations.includes('UPDATE');
}

/** Reports whether Go's ParseBool parses the text as true. */
function isTrue(text = ''): boolean {
  return ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text);
}
