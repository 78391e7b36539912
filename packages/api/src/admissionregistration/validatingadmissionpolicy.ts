import * as s from '@kruise/schema';
import { condition } from '../meta/condition.ts';
import { kind } from '../meta/kind.ts';
import { matchCondition, matchResources } from './rule.ts';

export const paramKind = s.object('io.k8s.api.admissionregistration.v1.ParamKind', '', {
  apiVersion: s.optional(1, s.string(), ''),
  kind: s.optional(2, s.string(), ''),
}, { mapType: 'atomic' });
export type ParamKind = s.TypeOf<typeof paramKind>;

export const validation = s.object('io.k8s.api.admissionregistration.v1.Validation', '', {
  expression: s.required(1, s.string(), ''),
  message: s.optional(2, s.string(), ''),
  reason: s.pointer(3, s.string({ goType: 'v1.StatusReason' }), ''),
  messageExpression: s.optional(4, s.string(), ''),
});
export type Validation = s.TypeOf<typeof validation>;

export const auditAnnotation = s.object('io.k8s.api.admissionregistration.v1.AuditAnnotation', '', {
  key: s.required(1, s.string(), ''),
  valueExpression: s.required(2, s.string(), ''),
});
export type AuditAnnotation = s.TypeOf<typeof auditAnnotation>;

export const variable = s.object('io.k8s.api.admissionregistration.v1.Variable', '', {
  name: s.required(1, s.string(), ''),
  expression: s.required(2, s.string(), ''),
}, { mapType: 'atomic' });
export type Variable = s.TypeOf<typeof variable>;

export const validatingAdmissionPolicySpec = s.object('io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec', '', {
  paramKind: s.pointer(1, paramKind, ''),
  matchConstraints: s.pointer(2, matchResources, ''),
  validations: s.optional(3, s.atomicList(validation), ''),
  failurePolicy: s.pointer(4, s.oneOf('v1.FailurePolicyType', ['Ignore', 'Fail']), ''),
  auditAnnotations: s.optional(5, s.atomicList(auditAnnotation), ''),
  matchConditions: s.optional(6, s.listMap(matchCondition, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
  variables: s.optional(7, s.listMap(variable, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
});
export type ValidatingAdmissionPolicySpec = s.TypeOf<typeof validatingAdmissionPolicySpec>;

export const expressionWarning = s.object('io.k8s.api.admissionregistration.v1.ExpressionWarning', '', {
  fieldRef: s.required(2, s.string(), ''),
  warning: s.required(3, s.string(), ''),
});
export type ExpressionWarning = s.TypeOf<typeof expressionWarning>;

export const typeChecking = s.object('io.k8s.api.admissionregistration.v1.TypeChecking', '', {
  expressionWarnings: s.optional(1, s.atomicList(expressionWarning), ''),
});
export type TypeChecking = s.TypeOf<typeof typeChecking>;

export const validatingAdmissionPolicyStatus = s.object('io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus', '', {
  observedGeneration: s.optional(1, s.int64(), ''),
  typeChecking: s.pointer(2, typeChecking, ''),
  conditions: s.optional(3, s.listMap(condition, ['type']), ''),
});
export type ValidatingAdmissionPolicyStatus = s.TypeOf<typeof validatingAdmissionPolicyStatus>;

export const validatingAdmissionPolicy = kind('io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy', '', {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  scope: 'Cluster',
  categories: ['api-extensions'],
  subresources: ['status'],
  fields: {
    spec: s.optional(2, validatingAdmissionPolicySpec, ''),
    status: s.optional(3, validatingAdmissionPolicyStatus, ''),
  },
});
export type ValidatingAdmissionPolicy = s.TypeOf<typeof validatingAdmissionPolicy>;
