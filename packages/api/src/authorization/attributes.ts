import * as s from '@kruise/schema';
import { fieldSelectorRequirement } from '../meta/field-selector.ts';
import { labelSelectorRequirement } from '../meta/label-selector.ts';

export const fieldSelectorAttributes = s.object('io.k8s.api.authorization.v1.FieldSelectorAttributes', '', {
  rawSelector: s.optional(1, s.string(), ''),
  requirements: s.optional(2, s.atomicList(fieldSelectorRequirement), ''),
});
export type FieldSelectorAttributes = s.TypeOf<typeof fieldSelectorAttributes>;

export const labelSelectorAttributes = s.object('io.k8s.api.authorization.v1.LabelSelectorAttributes', '', {
  rawSelector: s.optional(1, s.string(), ''),
  requirements: s.optional(2, s.atomicList(labelSelectorRequirement), ''),
});
export type LabelSelectorAttributes = s.TypeOf<typeof labelSelectorAttributes>;

export const resourceAttributes = s.object('io.k8s.api.authorization.v1.ResourceAttributes', '', {
  namespace: s.optional(1, s.string(), ''),
  verb: s.optional(2, s.string(), ''),
  group: s.optional(3, s.string(), ''),
  version: s.optional(4, s.string(), ''),
  resource: s.optional(5, s.string(), ''),
  subresource: s.optional(6, s.string(), ''),
  name: s.optional(7, s.string(), ''),
  fieldSelector: s.pointer(8, fieldSelectorAttributes, ''),
  labelSelector: s.pointer(9, labelSelectorAttributes, ''),
});
export type ResourceAttributes = s.TypeOf<typeof resourceAttributes>;

export const nonResourceAttributes = s.object('io.k8s.api.authorization.v1.NonResourceAttributes', '', {
  path: s.optional(1, s.string(), ''),
  verb: s.optional(2, s.string(), ''),
});
export type NonResourceAttributes = s.TypeOf<typeof nonResourceAttributes>;

export const subjectAccessReviewSpec = s.object('io.k8s.api.authorization.v1.SubjectAccessReviewSpec', '', {
  resourceAttributes: s.pointer(1, resourceAttributes, ''),
  nonResourceAttributes: s.pointer(2, nonResourceAttributes, ''),
  user: s.optional(3, s.string(), ''),
  groups: s.optional(4, s.atomicList(s.string()), ''),
  extra: s.optional(5, s.map(s.list(s.string(), { goType: 'v1.ExtraValue' })), ''),
  uid: s.optional(6, s.string(), ''),
});
export type SubjectAccessReviewSpec = s.TypeOf<typeof subjectAccessReviewSpec>;

export const subjectAccessReviewStatus = s.object('io.k8s.api.authorization.v1.SubjectAccessReviewStatus', '', {
  allowed: s.required(1, s.boolean(), ''),
  denied: s.optional(4, s.boolean(), ''),
  reason: s.optional(2, s.string(), ''),
  evaluationError: s.optional(3, s.string(), ''),
});
export type SubjectAccessReviewStatus = s.TypeOf<typeof subjectAccessReviewStatus>;
