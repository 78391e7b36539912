/**
 * What a PodUnavailableBudget says to whatever makes a Pod unavailable (pod-admission.md §3.3). Webhooks ask it for
 * everybody, workloads for themselves before they begin: a Pod that is drained already cannot be refused any more.
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

/** A record of this age may be forgotten before what it is relied on for is done: it is made anew. */
const reliableMs = 5000;

/** The name of the budget a Pod belongs to. */
export function budgetNameOf({
  metadata: { annotations = {} },
}: Pick<KubernetesObject, 'metadata'>): string | undefined {
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

/** Where it is recorded what may happen to Pods. */
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

/** Why a budget lets nothing more happen; nothing if it does. */
function faultOf({ unavailableAllowed, disruptedPods = {}, unavailablePods = {} }: Status): string | undefined {
  if (unavailableAllowed <= 0) return 'pub unavailable allowed is negative';
  if (Object.keys(disruptedPods).length + Object.keys(unavailablePods).length <= mostRecorded) return undefined;
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
  // Where nobody tells resizes from other updates, they are updates.
  return operation === 'RESIZE' && !gates.InPlacePodVerticalScaling && operations.includes('UPDATE');
}

/** True in the words of Go's ParseBool. */
function isTrue(text = ''): boolean {
  return ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text);
}
