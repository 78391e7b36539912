import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { matchResources } from './rule.ts';

export const paramRef = s.object('io.k8s.api.admissionregistration.v1.ParamRef', '', {
  name: s.optional(1, s.string(), ''),
  namespace: s.optional(2, s.string(), ''),
  selector: s.pointer(3, labelSelector, ''),
  parameterNotFoundAction: s.pointer(4, s.string({ goType: 'v1.ParameterNotFoundActionType' }), ''),
}, { mapType: 'atomic' });
export type ParamRef = s.TypeOf<typeof paramRef>;

export const validatingAdmissionPolicyBindingSpec = s.object('io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec', '', {
  policyName: s.optional(1, s.string(), ''),
  paramRef: s.pointer(2, paramRef, ''),
  matchResources: s.pointer(3, matchResources, ''),
  validationActions: s.optional(4, s.set(s.oneOf('v1.ValidationAction', ['Deny', 'Warn', 'Audit'])), ''),
});
export type ValidatingAdmissionPolicyBindingSpec = s.TypeOf<typeof validatingAdmissionPolicyBindingSpec>;

export const validatingAdmissionPolicyBinding = kind('io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding', '', {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
  scope: 'Cluster',
  categories: ['api-extensions'],
  fields: {
    spec: s.optional(2, validatingAdmissionPolicyBindingSpec, ''),
  },
});
export type ValidatingAdmissionPolicyBinding = s.TypeOf<typeof validatingAdmissionPolicyBinding>;
