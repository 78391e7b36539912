import * as s from '@kruise/schema';
import { fieldSelectorRequirement } from '../meta/field-selector.ts';
import { labelSelectorRequirement } from '../meta/label-selector.ts';

export const fieldSelectorAttributes = s.object(
  'io.k8s.api.authorization.v1.FieldSelectorAttributes',
  'The field selector of a request; one of both forms. A decision may be narrowed by it, never widened.',
  {
    rawSelector: s.optional(1, s.string(), 'The selector as text, which the server parses.'),
    requirements: s.optional(2, s.atomicList(fieldSelectorRequirement), 'The selector as demands; all of them hold.'),
  },
);
export type FieldSelectorAttributes = s.TypeOf<typeof fieldSelectorAttributes>;

export const labelSelectorAttributes = s.object(
  'io.k8s.api.authorization.v1.LabelSelectorAttributes',
  'The label selector of a request; one of both forms. A decision may be narrowed by it, never widened.',
  {
    rawSelector: s.optional(1, s.string(), 'The selector as text, which the server parses.'),
    requirements: s.optional(2, s.atomicList(labelSelectorRequirement), 'The selector as demands; all of them hold.'),
  },
);
export type LabelSelectorAttributes = s.TypeOf<typeof labelSelectorAttributes>;

export const resourceAttributes = s.object(
  'io.k8s.api.authorization.v1.ResourceAttributes',
  'A request for a resource.',
  {
    namespace: s.optional(1, s.string(), 'Namespace of the object; empty for all, or for kinds that have none.'),
    verb: s.optional(2, s.string(), 'Verb of the request, for example get or create; * for all.'),
    group: s.optional(3, s.string(), 'API group of the resource; * for all.'),
    version: s.optional(4, s.string(), 'Version of the resource; * for all.'),
    resource: s.optional(5, s.string(), 'The resource; * for all.'),
    subresource: s.optional(6, s.string(), 'The subresource; empty for none.'),
    name: s.optional(7, s.string(), 'Name of the object; empty for all.'),
    fieldSelector: s.pointer(8, fieldSelectorAttributes, 'The field selector of a list, watch or deletecollection.'),
    labelSelector: s.pointer(9, labelSelectorAttributes, 'The label selector of a list, watch or deletecollection.'),
  },
);
export type ResourceAttributes = s.TypeOf<typeof resourceAttributes>;

export const nonResourceAttributes = s.object(
  'io.k8s.api.authorization.v1.NonResourceAttributes',
  'A request for something that is not a resource.',
  {
    path: s.optional(1, s.string(), 'The path, such as /healthz.'),
    verb: s.optional(2, s.string(), 'Verb of the request: the HTTP method in lower case.'),
  },
);
export type NonResourceAttributes = s.TypeOf<typeof nonResourceAttributes>;

export const subjectAccessReviewSpec = s.object(
  'io.k8s.api.authorization.v1.SubjectAccessReviewSpec',
  'User and requested action; exactly one of resourceAttributes and nonResourceAttributes.',
  {
    resourceAttributes: s.pointer(1, resourceAttributes, 'A request for a resource.'),
    nonResourceAttributes: s.pointer(2, nonResourceAttributes, 'Attributes of a non-resource request.'),
    user: s.optional(
      3,
      s.string(),
      'Name of the user. Without groups, only the rights of the user itself are checked.',
    ),
    groups: s.optional(4, s.atomicList(s.string()), 'Groups of the user.'),
    extra: s.optional(
      5,
      s.map(s.list(s.string(), { goType: 'v1.ExtraValue' })),
      'Additional information from the authenticator, by key.',
    ),
    uid: s.optional(6, s.string(), 'The uid of the user.'),
  },
);
export type SubjectAccessReviewSpec = s.TypeOf<typeof subjectAccessReviewSpec>;

export const subjectAccessReviewStatus = s.object(
  'io.k8s.api.authorization.v1.SubjectAccessReviewStatus',
  'Decision about the requested action.',
  {
    allowed: s.required(1, s.boolean(), 'Decision: true if the action is allowed.'),
    denied: s.optional(
      4,
      s.boolean(),
      'Explicit denial by an authorizer. If allowed and denied are both false, no authorizer has an opinion.',
    ),
    reason: s.optional(2, s.string(), 'Human-readable reason of the decision.'),
    evaluationError: s.optional(3, s.string(), 'Error during the evaluation; the decision can be valid nevertheless.'),
  },
);
export type SubjectAccessReviewStatus = s.TypeOf<typeof subjectAccessReviewStatus>;
