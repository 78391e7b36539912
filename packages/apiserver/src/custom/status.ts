import { approvalOf, isProtectedGroup } from '@kruise/api/apiextensions/api-approval';
import type {
  CustomResourceDefinitionCondition as Condition,
  CustomResourceDefinitionStatus as Status,
} from '@kruise/api/apiextensions/customresourcedefinition';
import { isValidCaBundle } from '@kruise/api/meta/webhook.validate';
import { findCondition, isConditionTrue, withCondition } from '@kruise/machinery/conditions';
import { isSame } from '@kruise/machinery/json-value';
import type { Instant } from '@kruise/values/time';
import type { Definition } from './definition.ts';
import { acceptNames } from './names.ts';

type Unstamped = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/**
 * Returns the status that a definition should have, given the others of its group: accepted names, and the Established
 * condition. Returns the existing status if it is current.
 */
export function reconcileStatus(
  definition: Definition,
  others: Iterable<Definition>,
  now: Instant,
): Status | undefined {
  const { spec, metadata, status } = definition;
  let next = status;
  const setCondition = (condition: Unstamped) => {
    next = withDefinitionCondition(next, condition, now);
  };
  if (!isSame(spec.names, status?.acceptedNames)) {
    const { acceptedNames, condition } = acceptNames(definition, others);
    if (!isSame(acceptedNames, status?.acceptedNames)) next = { ...next, acceptedNames } as Status;
    setCondition(condition);
    if (!findCondition(next?.conditions, 'Established')) setCondition(notAccepted);
  }
  if (isConditionTrue(next?.conditions, 'NamesAccepted') && !isConditionTrue(next?.conditions, 'Established')) {
    setCondition(isValidCaBundle(spec.conversion?.webhook?.clientConfig?.caBundle) ? established : invalidBundle);
  }
  if (isProtectedGroup(spec.group)) setCondition(approvalCondition(metadata.annotations));
  return next;
}

/** Returns the status with a condition set; lastTransitionTime changes only with the condition status. */
export function withDefinitionCondition(status: Status | undefined, condition: Unstamped, now: Instant): Status {
  const conditions = withCondition(status?.conditions ?? undefined, condition as Condition, now);
  return conditions === status?.conditions ? status : ({ ...status, conditions } as Status);
}

export type Terminating = Unstamped & { readonly type: 'Terminating' };

/** Creates the Terminating condition of a definition. */
export function terminating(status: 'True' | 'False', reason: string, message: string): Terminating {
  return { type: 'Terminating', status, reason, message };
}

const notAccepted: Unstamped = {
  type: 'Established',
  status: 'False',
  reason: 'NotAccepted',
  message: 'not all names are accepted',
};
const established: Unstamped = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
};
const invalidBundle: Unstamped = {
  type: 'Established',
  status: 'False',
  reason: 'InvalidCABundle',
  message: 'The conversion webhook CABundle is invalid',
};

const approvalReasons = {
  approved: 'ApprovedAnnotation',
  bypassed: 'UnapprovedAnnotation',
  missing: 'MissingAnnotation',
  invalid: 'InvalidAnnotation',
} as const;

function approvalCondition(annotations: { readonly [name: string]: string } | undefined): Unstamped {
  const { state, reason } = approvalOf(annotations);
  return {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: state === 'approved' ? 'True' : 'False',
    reason: approvalReasons[state],
    message: reason,
  };
}
