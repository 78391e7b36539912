import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { matchResources } from './rule.ts';

export const paramRef = s.object(
  'io.k8s.api.admissionregistration.v1.ParamRef',
  'The parameters of a policy; one of name and selector.',
  {
    name: s.optional(1, s.string(), 'Name of the object.'),
    namespace: s.optional(
      2,
      s.string(),
      'Namespace of the object. Unset: the namespace of the request, if the kind is namespaced.',
    ),
    selector: s.pointer(3, labelSelector, 'Objects by label; each is used.'),
    parameterNotFoundAction: s.pointer(
      4,
      s.string({ goType: 'v1.ParameterNotFoundActionType' }),
      'Action if no parameter is found: Deny applies the failurePolicy, Allow admits the request. Required.',
    ),
  },
  { mapType: 'atomic' },
);
export type ParamRef = s.TypeOf<typeof paramRef>;

export const validatingAdmissionPolicyBindingSpec = s.object(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec',
  'Binding of a policy.',
  {
    policyName: s.optional(1, s.string(), 'The policy. If it is missing, the binding has no effect.'),
    paramRef: s.pointer(2, paramRef, 'Parameters of the policy, if it has any.'),
    matchResources: s.pointer(
      3,
      matchResources,
      'Requests that the binding applies to, among those of the policy. Unset: all of them.',
    ),
    validationActions: s.optional(
      4,
      s.set(s.oneOf('v1.ValidationAction', ['Deny', 'Warn', 'Audit'])),
      'Actions on a violation: Deny, Warn, Audit or several of them; not both Deny and Warn.',
    ),
  },
);
export type ValidatingAdmissionPolicyBindingSpec = s.TypeOf<typeof validatingAdmissionPolicyBindingSpec>;

export const validatingAdmissionPolicyBinding = kind(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding',
  'Binding that enables a policy, with its parameters, optionally for some requests only.',
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    scope: 'Cluster',
    categories: ['api-extensions'],
    fields: {
      spec: s.optional(
        2,
        validatingAdmissionPolicyBindingSpec,
        'Specification: the policy, and the requests that it is bound to.',
      ),
    },
  },
);
export type ValidatingAdmissionPolicyBinding = s.TypeOf<typeof validatingAdmissionPolicyBinding>;
