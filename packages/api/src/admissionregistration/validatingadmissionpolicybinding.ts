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
      "Namespace of the object. Unset: that of the request's object, if the kind has namespaces.",
    ),
    selector: s.pointer(3, labelSelector, 'Objects by label; each is used.'),
    parameterNotFoundAction: s.pointer(
      4,
      s.string({ goType: 'v1.ParameterNotFoundActionType' }),
      'What having none causes: Deny goes by failurePolicy, Allow lets the request pass. Must be given.',
    ),
  },
  { mapType: 'atomic' },
);
export type ParamRef = s.TypeOf<typeof paramRef>;

export const validatingAdmissionPolicyBindingSpec = s.object(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec',
  'A policy, put in force.',
  {
    policyName: s.optional(1, s.string(), 'The policy. If it is missing, the binding has no effect.'),
    paramRef: s.pointer(2, paramRef, 'Its parameters, if it takes any.'),
    matchResources: s.pointer(3, matchResources, 'What it is in force for, among what it is about. Unset: all of it.'),
    validationActions: s.optional(
      4,
      s.set(s.oneOf('v1.ValidationAction', ['Deny', 'Warn', 'Audit'])),
      'What a violation causes: Deny, Warn, Audit, or several; not Deny and Warn together.',
    ),
  },
);
export type ValidatingAdmissionPolicyBindingSpec = s.TypeOf<typeof validatingAdmissionPolicyBindingSpec>;

export const validatingAdmissionPolicyBinding = kind(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding',
  'Puts a policy in force, with parameters and perhaps for some requests only.',
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    scope: 'Cluster',
    categories: ['api-extensions'],
    fields: {
      spec: s.optional(2, validatingAdmissionPolicyBindingSpec, 'Which policy, and for what.'),
    },
  },
);
export type ValidatingAdmissionPolicyBinding = s.TypeOf<typeof validatingAdmissionPolicyBinding>;
