import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const priorityLevelConfigurationReference = s.object(
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationReference',
  'Names a priority level.',
  {
    name: s.required(1, s.string(), 'Name of the PriorityLevelConfiguration.'),
  },
);
export type PriorityLevelConfigurationReference = s.TypeOf<typeof priorityLevelConfigurationReference>;

export const flowDistinguisherMethod = s.object(
  'io.k8s.api.flowcontrol.v1.FlowDistinguisherMethod',
  'What makes a flow of its own.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.FlowDistinguisherMethodType' }),
      'ByUser, for each user, or ByNamespace, for each namespace.',
    ),
  },
);
export type FlowDistinguisherMethod = s.TypeOf<typeof flowDistinguisherMethod>;

export const userSubject = s.object('io.k8s.api.flowcontrol.v1.UserSubject', 'A user, by name.', {
  name: s.required(1, s.string(), 'Name of the user; * for all.'),
});
export type UserSubject = s.TypeOf<typeof userSubject>;

export const groupSubject = s.object('io.k8s.api.flowcontrol.v1.GroupSubject', 'A group of users, by name.', {
  name: s.required(1, s.string(), 'Name of the group; * for all.'),
});
export type GroupSubject = s.TypeOf<typeof groupSubject>;

export const serviceAccountSubject = s.object('io.k8s.api.flowcontrol.v1.ServiceAccountSubject', 'A ServiceAccount.', {
  namespace: s.required(1, s.string(), 'Namespace of the account.'),
  name: s.required(2, s.string(), 'Name of the account; * for all of the namespace.'),
});
export type ServiceAccountSubject = s.TypeOf<typeof serviceAccountSubject>;

export const subject = s.object('io.k8s.api.flowcontrol.v1.Subject', 'Who makes a request.', {
  kind: s.required(
    1,
    s.string({ goType: 'v1.SubjectKind' }),
    'Which of the others is given: User, Group or ServiceAccount.',
  ),
  user: s.pointer(2, userSubject, 'A user, with kind User.'),
  group: s.pointer(3, groupSubject, 'A group, with kind Group.'),
  serviceAccount: s.pointer(4, serviceAccountSubject, 'A ServiceAccount, with kind ServiceAccount.'),
});
export type Subject = s.TypeOf<typeof subject>;

export const resourcePolicyRule = s.object(
  'io.k8s.api.flowcontrol.v1.ResourcePolicyRule',
  'Requests for resources; every list must match.',
  {
    verbs: s.required(1, s.set(s.string()), 'What is done; * for all. * must stand alone.'),
    apiGroups: s.required(2, s.set(s.string()), 'In which API groups; * for all.'),
    resources: s.required(3, s.set(s.string()), 'With which resources, such as services or nodes/status; * for all.'),
    clusterScope: s.optional(4, s.boolean(), 'Whether requests without a namespace match. Default false.'),
    namespaces: s.optional(
      5,
      s.set(s.string()),
      'In which namespaces; * for all. May be empty only with clusterScope.',
      { omitEmpty: false },
    ),
  },
);
export type ResourcePolicyRule = s.TypeOf<typeof resourcePolicyRule>;

export const nonResourcePolicyRule = s.object(
  'io.k8s.api.flowcontrol.v1.NonResourcePolicyRule',
  'Requests for paths; both lists must match.',
  {
    verbs: s.required(1, s.set(s.string()), 'What is done; * for all. * must stand alone.'),
    nonResourceURLs: s.required(6, s.set(s.string()), 'Which paths, such as /healthz or /healthz/*; * for all.'),
  },
);
export type NonResourcePolicyRule = s.TypeOf<typeof nonResourcePolicyRule>;

export const policyRulesWithSubjects = s.object(
  'io.k8s.api.flowcontrol.v1.PolicyRulesWithSubjects',
  'Requests of certain users for certain things.',
  {
    subjects: s.required(1, s.atomicList(subject), 'Who makes them: any of these.'),
    resourceRules: s.optional(2, s.atomicList(resourcePolicyRule), 'What for, among resources: any of these rules.'),
    nonResourceRules: s.optional(3, s.atomicList(nonResourcePolicyRule), 'What for, among paths: any of these rules.'),
  },
);
export type PolicyRulesWithSubjects = s.TypeOf<typeof policyRulesWithSubjects>;

export const flowSchemaSpec = s.object(
  'io.k8s.api.flowcontrol.v1.FlowSchemaSpec',
  'Which requests, and to which level.',
  {
    priorityLevelConfiguration: s.required(
      1,
      priorityLevelConfigurationReference,
      'The level they go to. If it is missing, the schema is ignored.',
    ),
    matchingPrecedence: s.optional(
      2,
      s.int32(),
      'Of the schemas that match, the one with the least number holds; 1 to 10000. Default 1000.',
      { omitEmpty: false },
    ),
    distinguisherMethod: s.pointer(
      3,
      flowDistinguisherMethod,
      'How requests are divided into flows for fair queueing. Unset: all are one flow.',
    ),
    rules: s.optional(4, s.atomicList(policyRulesWithSubjects), 'Which requests: any of these.'),
  },
);
export type FlowSchemaSpec = s.TypeOf<typeof flowSchemaSpec>;

export const flowSchemaCondition = s.object(
  'io.k8s.api.flowcontrol.v1.FlowSchemaCondition',
  'A condition of a FlowSchema.',
  {
    type: s.optional(1, s.string({ goType: 'v1.FlowSchemaConditionType' }), 'Dangling: the level does not exist.'),
    status: s.optional(
      2,
      s.string({ goType: 'v1.ConditionStatus' }),
      'Status of the condition: True, False or Unknown.',
    ),
    lastTransitionTime: s.optional(3, s.time(), 'When the status last changed.'),
    reason: s.optional(4, s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(5, s.string(), 'Human-readable message with details.'),
  },
);
export type FlowSchemaCondition = s.TypeOf<typeof flowSchemaCondition>;

export const flowSchemaStatus = s.object('io.k8s.api.flowcontrol.v1.FlowSchemaStatus', 'Status of a FlowSchema.', {
  conditions: s.optional(1, s.listMap(flowSchemaCondition, ['type']), 'Whether its level exists.', {
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type FlowSchemaStatus = s.TypeOf<typeof flowSchemaStatus>;

export const flowSchema = kind(
  'io.k8s.api.flowcontrol.v1.FlowSchema',
  'Sends requests to a priority level, divided into flows.',
  {
    group: 'flowcontrol.apiserver.k8s.io',
    version: 'v1',
    kind: 'FlowSchema',
    plural: 'flowschemas',
    scope: 'Cluster',
    subresources: ['status'],
    fields: {
      spec: s.optional(2, flowSchemaSpec, 'Which requests, and to which level.'),
      status: s.optional(3, flowSchemaStatus, 'What is known of it.'),
    },
  },
);
export type FlowSchema = s.TypeOf<typeof flowSchema>;
