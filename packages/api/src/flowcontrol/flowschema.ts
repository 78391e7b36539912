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
  'Method that distinguishes flows.',
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

export const subject = s.object(
  'io.k8s.api.flowcontrol.v1.Subject',
  'Subject of a request: a user, group or service account.',
  {
    kind: s.required(
      1,
      s.string({ goType: 'v1.SubjectKind' }),
      'Kind of the subject: User, Group or ServiceAccount. Determines the field that is set.',
    ),
    user: s.pointer(2, userSubject, 'A user, with kind User.'),
    group: s.pointer(3, groupSubject, 'A group, with kind Group.'),
    serviceAccount: s.pointer(4, serviceAccountSubject, 'A ServiceAccount, with kind ServiceAccount.'),
  },
);
export type Subject = s.TypeOf<typeof subject>;

export const resourcePolicyRule = s.object(
  'io.k8s.api.flowcontrol.v1.ResourcePolicyRule',
  'Requests for resources; every list must match.',
  {
    verbs: s.required(1, s.set(s.string()), 'Verbs that match; * for all, which must be the only entry.'),
    apiGroups: s.required(2, s.set(s.string()), 'API groups that match; * for all.'),
    resources: s.required(
      3,
      s.set(s.string()),
      'Resources that match, for example services or nodes/status; * for all.',
    ),
    clusterScope: s.optional(4, s.boolean(), 'Requests without a namespace match. Default false.'),
    namespaces: s.optional(
      5,
      s.set(s.string()),
      'Namespaces that match; * for all. Can be empty only with clusterScope.',
      { omitEmpty: false },
    ),
  },
);
export type ResourcePolicyRule = s.TypeOf<typeof resourcePolicyRule>;

export const nonResourcePolicyRule = s.object(
  'io.k8s.api.flowcontrol.v1.NonResourcePolicyRule',
  'Requests for paths; both lists must match.',
  {
    verbs: s.required(1, s.set(s.string()), 'Verbs that match; * for all, which must be the only entry.'),
    nonResourceURLs: s.required(
      6,
      s.set(s.string()),
      'Paths that match, for example /healthz or /healthz/*; * for all.',
    ),
  },
);
export type NonResourcePolicyRule = s.TypeOf<typeof nonResourcePolicyRule>;

export const policyRulesWithSubjects = s.object(
  'io.k8s.api.flowcontrol.v1.PolicyRulesWithSubjects',
  'Requests of certain users for certain things.',
  {
    subjects: s.required(1, s.atomicList(subject), 'Subjects that match; at least one of them must.'),
    resourceRules: s.optional(
      2,
      s.atomicList(resourcePolicyRule),
      'Rules for resource requests; at least one of the rules of both lists must match.',
    ),
    nonResourceRules: s.optional(
      3,
      s.atomicList(nonResourcePolicyRule),
      'Rules for non-resource requests; at least one of the rules of both lists must match.',
    ),
  },
);
export type PolicyRulesWithSubjects = s.TypeOf<typeof policyRulesWithSubjects>;

export const flowSchemaSpec = s.object(
  'io.k8s.api.flowcontrol.v1.FlowSchemaSpec',
  'Specification: requests that match, and their priority level.',
  {
    priorityLevelConfiguration: s.required(
      1,
      priorityLevelConfigurationReference,
      'Priority level of the requests. If it does not exist, the schema is ignored.',
    ),
    matchingPrecedence: s.optional(
      2,
      s.int32(),
      'Precedence among matching schemas: the lowest number wins; 1 to 10000. Default 1000.',
      { omitEmpty: false },
    ),
    distinguisherMethod: s.pointer(
      3,
      flowDistinguisherMethod,
      'Method that divides requests into flows for fair queuing. Unset: one flow.',
    ),
    rules: s.optional(
      4,
      s.atomicList(policyRulesWithSubjects),
      'Rules for the requests that match; at least one must match.',
    ),
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
    lastTransitionTime: s.optional(3, s.time(), 'Time at which the status of the condition last changed.'),
    reason: s.optional(4, s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(5, s.string(), 'Human-readable message with details.'),
  },
);
export type FlowSchemaCondition = s.TypeOf<typeof flowSchemaCondition>;

export const flowSchemaStatus = s.object('io.k8s.api.flowcontrol.v1.FlowSchemaStatus', 'Status of a FlowSchema.', {
  conditions: s.optional(
    1,
    s.listMap(flowSchemaCondition, ['type']),
    'Conditions, in particular Dangling: the priority level does not exist.',
    {
      patchStrategy: 'merge',
      patchMergeKey: 'type',
    },
  ),
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
      spec: s.optional(2, flowSchemaSpec, 'Specification: requests that match, and their priority level.'),
      status: s.optional(3, flowSchemaStatus, 'Status of the schema.'),
    },
  },
);
export type FlowSchema = s.TypeOf<typeof flowSchema>;
