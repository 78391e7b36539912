import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { podTemplateSpec } from '../core/pod-template.ts';

export const podFailurePolicyOnExitCodesRequirement = s.object('io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement', '', {
  containerName: s.pointer(1, s.string(), ''),
  operator: s.required(2, s.oneOf('v1.PodFailurePolicyOnExitCodesOperator', ['In', 'NotIn']), ''),
  values: s.required(3, s.set(s.int32()), ''),
});
export type PodFailurePolicyOnExitCodesRequirement = s.TypeOf<typeof podFailurePolicyOnExitCodesRequirement>;

export const podFailurePolicyOnPodConditionsPattern = s.object('io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern', '', {
  type: s.required(1, s.string({ goType: 'v1.PodConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
});
export type PodFailurePolicyOnPodConditionsPattern = s.TypeOf<typeof podFailurePolicyOnPodConditionsPattern>;

export const podFailurePolicyRule = s.object('io.k8s.api.batch.v1.PodFailurePolicyRule', '', {
  action: s.required(1, s.oneOf('v1.PodFailurePolicyAction', ['FailJob', 'FailIndex', 'Ignore', 'Count']), ''),
  onExitCodes: s.pointer(2, podFailurePolicyOnExitCodesRequirement, ''),
  onPodConditions: s.optional(3, s.atomicList(podFailurePolicyOnPodConditionsPattern), ''),
});
export type PodFailurePolicyRule = s.TypeOf<typeof podFailurePolicyRule>;

export const podFailurePolicy = s.object('io.k8s.api.batch.v1.PodFailurePolicy', '', {
  rules: s.required(1, s.atomicList(podFailurePolicyRule), ''),
});
export type PodFailurePolicy = s.TypeOf<typeof podFailurePolicy>;

export const successPolicyRule = s.object('io.k8s.api.batch.v1.SuccessPolicyRule', '', {
  succeededIndexes: s.pointer(1, s.string(), ''),
  succeededCount: s.pointer(2, s.int32(), ''),
});
export type SuccessPolicyRule = s.TypeOf<typeof successPolicyRule>;

export const successPolicy = s.object('io.k8s.api.batch.v1.SuccessPolicy', '', {
  rules: s.required(1, s.atomicList(successPolicyRule), ''),
});
export type SuccessPolicy = s.TypeOf<typeof successPolicy>;

export const jobSpec = s.object('io.k8s.api.batch.v1.JobSpec', '', {
  parallelism: s.pointer(1, s.int32(), ''),
  completions: s.pointer(2, s.int32(), ''),
  activeDeadlineSeconds: s.pointer(3, s.int64(), ''),
  podFailurePolicy: s.pointer(11, podFailurePolicy, ''),
  successPolicy: s.pointer(16, successPolicy, ''),
  backoffLimit: s.pointer(7, s.int32(), ''),
  backoffLimitPerIndex: s.pointer(12, s.int32(), ''),
  maxFailedIndexes: s.pointer(13, s.int32(), ''),
  selector: s.pointer(4, labelSelector, ''),
  manualSelector: s.pointer(5, s.boolean(), ''),
  template: s.required(6, podTemplateSpec, ''),
  ttlSecondsAfterFinished: s.pointer(8, s.int32(), ''),
  completionMode: s.pointer(9, s.oneOf('v1.CompletionMode', ['NonIndexed', 'Indexed']), ''),
  suspend: s.pointer(10, s.boolean(), ''),
  podReplacementPolicy: s.pointer(14, s.oneOf('v1.PodReplacementPolicy', ['TerminatingOrFailed', 'Failed']), ''),
  managedBy: s.pointer(15, s.string(), ''),
});
export type JobSpec = s.TypeOf<typeof jobSpec>;

export const jobCondition = s.object('io.k8s.api.batch.v1.JobCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.JobConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastProbeTime: s.optional(3, s.time(), ''),
  lastTransitionTime: s.optional(4, s.time(), ''),
  reason: s.optional(5, s.string(), ''),
  message: s.optional(6, s.string(), ''),
});
export type JobCondition = s.TypeOf<typeof jobCondition>;

export const uncountedTerminatedPods = s.object('io.k8s.api.batch.v1.UncountedTerminatedPods', '', {
  succeeded: s.optional(1, s.set(s.string({ goType: 'types.UID' })), ''),
  failed: s.optional(2, s.set(s.string({ goType: 'types.UID' })), ''),
});
export type UncountedTerminatedPods = s.TypeOf<typeof uncountedTerminatedPods>;

export const jobStatus = s.object('io.k8s.api.batch.v1.JobStatus', '', {
  conditions: s.optional(1, s.atomicList(jobCondition), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
  startTime: s.pointer(2, s.time(), ''),
  completionTime: s.pointer(3, s.time(), ''),
  active: s.optional(4, s.int32(), ''),
  succeeded: s.optional(5, s.int32(), ''),
  failed: s.optional(6, s.int32(), ''),
  terminating: s.pointer(11, s.int32(), ''),
  completedIndexes: s.optional(7, s.string(), ''),
  failedIndexes: s.pointer(10, s.string(), ''),
  uncountedTerminatedPods: s.pointer(8, uncountedTerminatedPods, ''),
  ready: s.pointer(9, s.int32(), ''),
});
export type JobStatus = s.TypeOf<typeof jobStatus>;

export const job = kind('io.k8s.api.batch.v1.Job', '', {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  scope: 'Namespaced',
  categories: ['all'],
  subresources: ['status'],
  fields: {
    spec: s.optional(2, jobSpec, ''),
    status: s.optional(3, jobStatus, ''),
  },
});
export type Job = s.TypeOf<typeof job>;
