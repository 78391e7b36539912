import {
  defaultMutatingWebhookConfiguration,
  defaultValidatingAdmissionPolicy,
  defaultValidatingAdmissionPolicyBinding,
  defaultValidatingWebhookConfiguration,
} from '@kruise/api/admissionregistration/admissionregistration.default';
import type { ExpressionCheck, ExpressionPlace } from '@kruise/api/admissionregistration/expression-check';
import type { MutatingWebhookConfiguration } from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import {
  validateValidatingAdmissionPolicy,
  validateValidatingAdmissionPolicyBinding,
  validateValidatingAdmissionPolicyStatusUpdate,
  validateValidatingAdmissionPolicyUpdate,
} from '@kruise/api/admissionregistration/policy.validate';
import type { ValidatingAdmissionPolicy } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import type { ValidatingWebhookConfiguration } from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import {
  validateWebhookConfiguration,
  validateWebhookConfigurationUpdate,
} from '@kruise/api/admissionregistration/webhook.validate';
import { boolType, nullType, stringType, type Type } from '@kruise/cel/types';
import { internal, invalid } from '@kruise/schema/field-error';
import { compileExpression } from '../admission/expressions.ts';
import { compileVariables, typesOf } from '../admission/policy/policy.ts';
import { type RulesByResource, rulesFor } from './rules.ts';

const yields: { readonly [K in ExpressionPlace['yields']]: readonly Type[] | undefined } = {
  bool: [boolType],
  string: [stringType],
  'string or null': [stringType, nullType],
  anything: undefined,
};

/** Compiles an expression as admission does, and discards the result. */
const checkExpression: ExpressionCheck = function* (expression, place) {
  const { path, params, authorizer, variables, isStored, shown = expression } = place;
  const declarations = { params, authorizer, expressions: isStored ? ('stored' as const) : ('new' as const) };
  const { error } = compileExpression(
    expression,
    {
      ...declarations,
      ...(variables ? { variables: typesOf(compileVariables(variables, { ...declarations, authorizer: true })) } : {}),
    },
    yields[place.yields],
  );
  if (error === undefined) return;
  yield error.startsWith('program instantiation failed') ? internal(path, error) : invalid(path, shown, error);
};

type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

const webhookRules = {
  unconditionalUpdate: false,
  generation: 'spec',
  validate: (object: WebhookConfiguration) => validateWebhookConfiguration(object, checkExpression),
  validateUpdate: (object: WebhookConfiguration, old: WebhookConfiguration) =>
    validateWebhookConfigurationUpdate(object, old, checkExpression),
} as const;

export const admissionRegistrationRules: RulesByResource = {
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': rulesFor<MutatingWebhookConfiguration>({
    ...webhookRules,
    default: defaultMutatingWebhookConfiguration,
  }),
  'validatingwebhookconfigurations.admissionregistration.k8s.io': rulesFor<ValidatingWebhookConfiguration>({
    ...webhookRules,
    default: defaultValidatingWebhookConfiguration,
  }),
  'validatingadmissionpolicies.admissionregistration.k8s.io': rulesFor<ValidatingAdmissionPolicy>({
    unconditionalUpdate: false,
    statusKeepsMetadata: true,
    default: defaultValidatingAdmissionPolicy,
    validate: (policy) => validateValidatingAdmissionPolicy(policy, checkExpression),
    validateUpdate: (policy, old) => validateValidatingAdmissionPolicyUpdate(policy, old, checkExpression),
    validateStatusUpdate: validateValidatingAdmissionPolicyStatusUpdate,
  }),
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': rulesFor({
    unconditionalUpdate: false,
    generation: 'spec',
    default: defaultValidatingAdmissionPolicyBinding,
    validate: validateValidatingAdmissionPolicyBinding,
    validateUpdate: validateValidatingAdmissionPolicyBinding,
  }),
};
