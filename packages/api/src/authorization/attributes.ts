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
    verb: s.optional(2, s.string(), 'What is to be done, such as get or create; * for all.'),
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
    verb: s.optional(2, s.string(), 'What is to be done: the HTTP method, lower-case.'),
  },
);
export type NonResourceAttributes = s.TypeOf<typeof nonResourceAttributes>;

export const subjectAccessReviewSpec = s.object(
  'io.k8s.api.authorization.v1.SubjectAccessReviewSpec',
  'Who wants to do what; exactly one of the two sorts of request.',
  {
    resourceAttributes: s.pointer(1, resourceAttributes, 'A request for a resource.'),
    nonResourceAttributes: s.pointer(2, nonResourceAttributes, 'A request for something else.'),
    user: s.optional(3, s.string(), 'Name of the user. Without groups, just the user is asked about.'),
    groups: s.optional(4, s.atomicList(s.string()), 'Groups of the user.'),
    extra: s.optional(5, s.map(s.list(s.string(), { goType: 'v1.ExtraValue' })), 'What else is known of the user.'),
    uid: s.optional(6, s.string(), 'The uid of the user.'),
  },
);
export type SubjectAccessReviewSpec = s.TypeOf<typeof subjectAccessReviewSpec>;

export const subjectAccessReviewStatus = s.object(
  'io.k8s.api.authorization.v1.SubjectAccessReviewStatus',
  'Whether it is allowed.',
  {
    allowed: s.required(1, s.boolean(), 'Whether it is allowed.'),
    denied: s.optional(
      4,
      s.boolean(),
      'Whether an authorizer explicitly denies it. Both false: no authorizer has an opinion.',
    ),
    reason: s.optional(2, s.string(), 'Why, for people.'),
    evaluationError: s.optional(3, s.string(), 'What went wrong in finding out; the answer may hold all the same.'),
  },
);
export type SubjectAccessReviewStatus = s.TypeOf<typeof subjectAccessReviewStatus>;
