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
    key: s.required(1, s.string(), 'Its key, unique in the policy; the name of the policy is put before it.'),
    valueExpression: s.required(
      2,
      s.string(),
      'A CEL expression that is a text, or null for nothing to note. Cut to 10 KiB.',
    ),
  },
);
export type AuditAnnotation = s.TypeOf<typeof auditAnnotation>;

export const variable = s.object(
  'io.k8s.api.admissionregistration.v1.Variable',
  'A named expression for others to use.',
  {
    name: s.required(1, s.string(), 'Its name; used as variables.name.'),
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
  'What a policy is about, and what it demands.',
  {
    paramKind: s.pointer(1, paramKind, 'The kind of its parameters. Unset: it has none.'),
    matchConstraints: s.pointer(2, matchResources, 'What it is about; must be given.'),
    validations: s.optional(
      3,
      s.atomicList(validation),
      'What it demands. At least one of these or of auditAnnotations.',
    ),
    failurePolicy: s.pointer(
      4,
      s.oneOf('v1.FailurePolicyType', ['Ignore', 'Fail']),
      'What an expression that fails causes: Fail (the default) refuses the request, Ignore passes over it.',
    ),
    auditAnnotations: s.optional(5, s.atomicList(auditAnnotation), 'What to note in the audit log.'),
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
    warning: s.required(3, s.string(), 'What is doubtful, with the type it was checked against.'),
  },
);
export type ExpressionWarning = s.TypeOf<typeof expressionWarning>;

export const typeChecking = s.object(
  'io.k8s.api.admissionregistration.v1.TypeChecking',
  'What checking the types in a policy found.',
  {
    expressionWarnings: s.optional(1, s.atomicList(expressionWarning), 'What is doubtful.'),
  },
);
export type TypeChecking = s.TypeOf<typeof typeChecking>;

export const validatingAdmissionPolicyStatus = s.object(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus',
  'Status of a policy.',
  {
    observedGeneration: s.optional(1, s.int64(), 'The metadata.generation that was checked.'),
    typeChecking: s.pointer(2, typeChecking, 'What checking its types found. Unset: not checked yet.'),
    conditions: s.optional(3, s.listMap(condition, ['type']), 'What is known of it.'),
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
      spec: s.optional(2, validatingAdmissionPolicySpec, 'What it is about, and what it demands.'),
      status: s.optional(3, validatingAdmissionPolicyStatus, 'What is known of it.'),
    },
  },
);
export type ValidatingAdmissionPolicy = s.TypeOf<typeof validatingAdmissionPolicy>;
