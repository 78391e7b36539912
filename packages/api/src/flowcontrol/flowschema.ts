import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const priorityLevelConfigurationReference = s.object('io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationReference', '', {
  name: s.required(1, s.string(), ''),
});
export type PriorityLevelConfigurationReference = s.TypeOf<typeof priorityLevelConfigurationReference>;

export const flowDistinguisherMethod = s.object('io.k8s.api.flowcontrol.v1.FlowDistinguisherMethod', '', {
  type: s.required(1, s.string({ goType: 'v1.FlowDistinguisherMethodType' }), ''),
});
export type FlowDistinguisherMethod = s.TypeOf<typeof flowDistinguisherMethod>;

export const userSubject = s.object('io.k8s.api.flowcontrol.v1.UserSubject', '', {
  name: s.required(1, s.string(), ''),
});
export type UserSubject = s.TypeOf<typeof userSubject>;

export const groupSubject = s.object('io.k8s.api.flowcontrol.v1.GroupSubject', '', {
  name: s.required(1, s.string(), ''),
});
export type GroupSubject = s.TypeOf<typeof groupSubject>;

export const serviceAccountSubject = s.object('io.k8s.api.flowcontrol.v1.ServiceAccountSubject', '', {
  namespace: s.required(1, s.string(), ''),
  name: s.required(2, s.string(), ''),
});
export type ServiceAccountSubject = s.TypeOf<typeof serviceAccountSubject>;

export const subject = s.object('io.k8s.api.flowcontrol.v1.Subject', '', {
  kind: s.required(1, s.string({ goType: 'v1.SubjectKind' }), ''),
  user: s.pointer(2, userSubject, ''),
  group: s.pointer(3, groupSubject, ''),
  serviceAccount: s.pointer(4, serviceAccountSubject, ''),
});
export type Subject = s.TypeOf<typeof subject>;

export const resourcePolicyRule = s.object('io.k8s.api.flowcontrol.v1.ResourcePolicyRule', '', {
  verbs: s.required(1, s.set(s.string()), ''),
  apiGroups: s.required(2, s.set(s.string()), ''),
  resources: s.required(3, s.set(s.string()), ''),
  clusterScope: s.optional(4, s.boolean(), ''),
  namespaces: s.optional(5, s.set(s.string()), '', { omitEmpty: false }),
});
export type ResourcePolicyRule = s.TypeOf<typeof resourcePolicyRule>;

export const nonResourcePolicyRule = s.object('io.k8s.api.flowcontrol.v1.NonResourcePolicyRule', '', {
  verbs: s.required(1, s.set(s.string()), ''),
  nonResourceURLs: s.required(6, s.set(s.string()), ''),
});
export type NonResourcePolicyRule = s.TypeOf<typeof nonResourcePolicyRule>;

export const policyRulesWithSubjects = s.object('io.k8s.api.flowcontrol.v1.PolicyRulesWithSubjects', '', {
  subjects: s.required(1, s.atomicList(subject), ''),
  resourceRules: s.optional(2, s.atomicList(resourcePolicyRule), ''),
  nonResourceRules: s.optional(3, s.atomicList(nonResourcePolicyRule), ''),
});
export type PolicyRulesWithSubjects = s.TypeOf<typeof policyRulesWithSubjects>;

export const flowSchemaSpec = s.object('io.k8s.api.flowcontrol.v1.FlowSchemaSpec', '', {
  priorityLevelConfiguration: s.required(1, priorityLevelConfigurationReference, ''),
  matchingPrecedence: s.optional(2, s.int32(), '', { omitEmpty: false }),
  distinguisherMethod: s.pointer(3, flowDistinguisherMethod, ''),
  rules: s.optional(4, s.atomicList(policyRulesWithSubjects), ''),
});
export type FlowSchemaSpec = s.TypeOf<typeof flowSchemaSpec>;

export const flowSchemaCondition = s.object('io.k8s.api.flowcontrol.v1.FlowSchemaCondition', '', {
  type: s.optional(1, s.string({ goType: 'v1.FlowSchemaConditionType' }), ''),
  status: s.optional(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastTransitionTime: s.optional(3, s.time(), ''),
  reason: s.optional(4, s.string(), ''),
  message: s.optional(5, s.string(), ''),
});
export type FlowSchemaCondition = s.TypeOf<typeof flowSchemaCondition>;

export const flowSchemaStatus = s.object('io.k8s.api.flowcontrol.v1.FlowSchemaStatus', '', {
  conditions: s.optional(1, s.listMap(flowSchemaCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
});
export type FlowSchemaStatus = s.TypeOf<typeof flowSchemaStatus>;

export const flowSchema = kind('io.k8s.api.flowcontrol.v1.FlowSchema', '', {
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'FlowSchema',
  plural: 'flowschemas',
  scope: 'Cluster',
  subresources: ['status'],
  fields: {
    spec: s.optional(2, flowSchemaSpec, ''),
    status: s.optional(3, flowSchemaStatus, ''),
  },
});
export type FlowSchema = s.TypeOf<typeof flowSchema>;
