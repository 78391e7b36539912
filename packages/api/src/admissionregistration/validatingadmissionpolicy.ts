import * as s from '@kruise/schema';
import { condition } from '../meta/condition.ts';
import { kind } from '../meta/kind.ts';
import { matchCondition, matchResources } from './rule.ts';

export const paramKind = s.object(
  'io.k8s.api.admissionregistration.v1.ParamKind',
  "The kind of a policy's parameters.",
  {
    apiVersion: s.optional(1, s.string(), 'Group and version of the kind.'),
    kind: s.optional(2, s.string(), 'The kind itself.'),
  },
  { mapType: 'atomic' },
);
export type ParamKind = s.TypeOf<typeof paramKind>;

export const validation = s.object('io.k8s.api.admissionregistration.v1.Validation', 'A rule in CEL.', {
  expression: s.required(
    1,
    s.string(),
    'An expression that must be true, with object, oldObject, request, params, namespaceObject, variables and authorizer.',
  ),
  message: s.optional(
    2,
    s.string(),
    'Message if the expression is false. Required if the expression has several lines.',
  ),
  reason: s.pointer(
    3,
    s.string({ goType: 'v1.StatusReason' }),
    'The reason of the Status then: Unauthorized, Forbidden, Invalid (the default) or RequestEntityTooLarge.',
  ),
  messageExpression: s.optional(4, s.string(), 'An expression that makes the message. If it fails, message is used.'),
});
export type Validation = s.TypeOf<typeof validation>;

export const auditAnnotation = s.object(
  'io.k8s.api.admissionregistration.v1.AuditAnnotation',
  'Something to note in the audit log.',
  {
    key: s.required(
      1,
      s.string(),
      'Key of the annotation, unique in the policy; it is prefixed with the name of the policy.',
    ),
    valueExpression: s.required(
      2,
      s.string(),
      'CEL expression of the value: a string, or null for no annotation. Truncated to 10 KiB.',
    ),
  },
);
export type AuditAnnotation = s.TypeOf<typeof auditAnnotation>;

export const variable = s.object(
  'io.k8s.api.admissionregistration.v1.Variable',
  'A named expression for others to use.',
  {
    name: s.required(1, s.string(), 'Name of the variable; used as variables.name.'),
    expression: s.required(
      2,
      s.string(),
      'A CEL expression. It may use the variables before it, and is computed when first needed.',
    ),
  },
  { mapType: 'atomic' },
);
export type Variable = s.TypeOf<typeof variable>;

export const validatingAdmissionPolicySpec = s.object(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec',
  'Specification of a policy: the requests that it applies to, and its validations.',
  {
    paramKind: s.pointer(1, paramKind, 'The kind of its parameters. Unset: it has none.'),
    matchConstraints: s.pointer(2, matchResources, 'Requests that the policy applies to. Required.'),
    validations: s.optional(
      3,
      s.atomicList(validation),
      'CEL expressions that a request must satisfy. At least one validation or audit annotation is required.',
    ),
    failurePolicy: s.pointer(
      4,
      s.oneOf('v1.FailurePolicyType', ['Ignore', 'Fail']),
      'Policy for errors of expressions: Fail (the default) rejects the request, Ignore continues.',
    ),
    auditAnnotations: s.optional(
      5,
      s.atomicList(auditAnnotation),
      'Annotations for the audit log. At least one validation or audit annotation is required.',
    ),
    matchConditions: s.optional(
      6,
      s.listMap(matchCondition, ['name']),
      'CEL conditions of which all must be true for the policy to apply; up to 64.',
      { patchStrategy: 'merge', patchMergeKey: 'name' },
    ),
    variables: s.optional(7, s.listMap(variable, ['name']), 'Expressions with names, to be used in the others.', {
      patchStrategy: 'merge',
      patchMergeKey: 'name',
    }),
  },
);
export type ValidatingAdmissionPolicySpec = s.TypeOf<typeof validatingAdmissionPolicySpec>;

export const expressionWarning = s.object(
  'io.k8s.api.admissionregistration.v1.ExpressionWarning',
  'Something doubtful in an expression.',
  {
    fieldRef: s.required(2, s.string(), 'Path of the expression, such as spec.validations[0].expression.'),
    warning: s.required(3, s.string(), 'Warning, with the type for which the expression was checked.'),
  },
);
export type ExpressionWarning = s.TypeOf<typeof expressionWarning>;

export const typeChecking = s.object(
  'io.k8s.api.admissionregistration.v1.TypeChecking',
  'Result of type checking the expressions of a policy.',
  {
    expressionWarnings: s.optional(1, s.atomicList(expressionWarning), 'Warnings about expressions.'),
  },
);
export type TypeChecking = s.TypeOf<typeof typeChecking>;

export const validatingAdmissionPolicyStatus = s.object(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus',
  'Status of a policy.',
  {
    observedGeneration: s.optional(1, s.int64(), 'The metadata.generation that was checked.'),
    typeChecking: s.pointer(2, typeChecking, 'Result of type checking. Unset if the policy has not been checked yet.'),
    conditions: s.optional(3, s.listMap(condition, ['type']), 'Conditions of the current state.'),
  },
);
export type ValidatingAdmissionPolicyStatus = s.TypeOf<typeof validatingAdmissionPolicyStatus>;

export const validatingAdmissionPolicy = kind(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy',
  'Rules in CEL for requests. In force once a binding names it.',
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    scope: 'Cluster',
    categories: ['api-extensions'],
    subresources: ['status'],
    fields: {
      spec: s.optional(
        2,
        validatingAdmissionPolicySpec,
        'Specification: the requests that the policy applies to, and its validations.',
      ),
      status: s.optional(3, validatingAdmissionPolicyStatus, 'Status of the policy, written by the server.'),
    },
  },
);
export type ValidatingAdmissionPolicy = s.TypeOf<typeof validatingAdmissionPolicy>;
