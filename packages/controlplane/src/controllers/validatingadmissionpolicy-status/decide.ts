import type { ValidatingAdmissionPolicy } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import { type Kinds, typeCheck } from '@kruise/apiserver/admission/policy/type-checking';
import type { Decision, StatusOf } from '@kruise/client/controller';

export type Observed = { readonly policy: ValidatingAdmissionPolicy; readonly kinds: Kinds };

/** Type-checks each generation of a policy once. */
export function decide({ policy, kinds }: Observed): Decision<StatusOf<ValidatingAdmissionPolicy>> {
  const { metadata, status } = policy;
  const generation = metadata.generation ?? 0;
  if (generation <= (status?.observedGeneration ?? 0)) return { actions: [] };
  const expressionWarnings = typeCheck(policy, kinds);
  const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings };
  return { actions: [], status: { ...status, observedGeneration: generation, typeChecking } };
}
