import * as s from '@kruise/schema';
import { podTemplateSpec } from '../core/pod-template.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const podFailurePolicyOnExitCodesRequirement = s.object(
  'io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement',
  'A demand on how a container ended.',
  {
    containerName: s.pointer(1, s.string(), 'Name of the container. Unset: any container.'),
    operator: s.required(
      2,
      s.oneOf('v1.PodFailurePolicyOnExitCodesOperator', ['In', 'NotIn']),
      'Operator: In or NotIn. The exit code 0 never matches.',
    ),
    values: s.required(
      3,
      s.set(s.int32()),
      'Exit codes in ascending order; at most 255. Must not contain 0 with the operator In.',
    ),
  },
);
export type PodFailurePolicyOnExitCodesRequirement = s.TypeOf<typeof podFailurePolicyOnExitCodesRequirement>;

export const podFailurePolicyOnPodConditionsPattern = s.object(
  'io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern',
  'A demand on a condition of a failed Pod.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.PodConditionType' }),
      'Type of the condition, such as DisruptionTarget.',
    ),
    status: s.required(
      2,
      s.string({ goType: 'v1.ConditionStatus' }),
      'Required status of the condition; True by default.',
    ),
  },
);
export type PodFailurePolicyOnPodConditionsPattern = s.TypeOf<typeof podFailurePolicyOnPodConditionsPattern>;

export const podFailurePolicyRule = s.object(
  'io.k8s.api.batch.v1.PodFailurePolicyRule',
  'Rule for one type of Pod failure; exactly one requirement.',
  {
    action: s.required(
      1,
      s.oneOf('v1.PodFailurePolicyAction', ['FailJob', 'FailIndex', 'Ignore', 'Count']),
      'Action: FailJob fails the job, FailIndex fails the index, Ignore replaces the Pod without counting the failure, Count counts it toward backoffLimit.',
    ),
    onExitCodes: s.pointer(2, podFailurePolicyOnExitCodesRequirement, 'Failures in which a container ended so.'),
    onPodConditions: s.optional(
      3,
      s.atomicList(podFailurePolicyOnPodConditionsPattern),
      'Failures in which the Pod has one of these conditions.',
    ),
  },
);
export type PodFailurePolicyRule = s.TypeOf<typeof podFailurePolicyRule>;

export const podFailurePolicy = s.object(
  'io.k8s.api.batch.v1.PodFailurePolicy',
  'Policy for failed Pods. Requires restartPolicy Never.',
  {
    rules: s.required(
      1,
      s.atomicList(podFailurePolicyRule),
      'Rules in order, of which the first that matches holds; up to 20. If none does, the failure counts.',
    ),
  },
);
export type PodFailurePolicy = s.TypeOf<typeof podFailurePolicy>;

export const successPolicyRule = s.object(
  'io.k8s.api.batch.v1.SuccessPolicyRule',
  'Success criterion; all given conditions must hold.',
  {
    succeededIndexes: s.pointer(1, s.string(), 'Indexes that must have succeeded, such as 0,2-4. Alone: all of them.'),
    succeededCount: s.pointer(
      2,
      s.int32(),
      'Number of indexes that must have succeeded, among succeededIndexes or all.',
    ),
  },
);
export type SuccessPolicyRule = s.TypeOf<typeof successPolicyRule>;

export const successPolicy = s.object(
  'io.k8s.api.batch.v1.SuccessPolicy',
  'Criteria by which an indexed job succeeds before all indexes have succeeded.',
  {
    rules: s.required(1, s.atomicList(successPolicyRule), 'Rules in order, of which one suffices; up to 20.'),
  },
);
export type SuccessPolicy = s.TypeOf<typeof successPolicy>;

export const jobSpec = s.object(
  'io.k8s.api.batch.v1.JobSpec',
  'Specification of a job. Most fields are immutable after the job has started.',
  {
    parallelism: s.pointer(1, s.int32(), 'Maximum number of concurrent Pods. Default 1; 0 pauses the job.'),
    completions: s.pointer(
      2,
      s.int32(),
      'Number of Pods that must succeed. Default 1 if parallelism is unset; otherwise one success is enough, and no further Pods are started after it.',
    ),
    activeDeadlineSeconds: s.pointer(
      3,
      s.int64(),
      'Seconds since the start after which the job fails and its Pods are killed. Unset: no limit.',
    ),
    podFailurePolicy: s.pointer(
      11,
      podFailurePolicy,
      'Policy for failed Pods. Unset: each failure counts toward backoffLimit.',
    ),
    successPolicy: s.pointer(
      16,
      successPolicy,
      'Criteria by which an indexed job succeeds before all indexes have succeeded. Immutable.',
    ),
    backoffLimit: s.pointer(
      7,
      s.int32(),
      'Number of failed Pods before the job fails. Default 6, or 2147483647 with backoffLimitPerIndex.',
    ),
    backoffLimitPerIndex: s.pointer(
      12,
      s.int32(),
      'Number of failed Pods of an index before the index fails. Requires completionMode Indexed and restartPolicy Never. Immutable.',
    ),
    maxFailedIndexes: s.pointer(
      13,
      s.int32(),
      'Maximum number of failed indexes; if it is exceeded, the job fails at once. Unset: all indexes are run. Requires backoffLimitPerIndex.',
    ),
    selector: s.pointer(4, labelSelector, 'Label selector of the Pods of the job. Normally set by the server.'),
    manualSelector: s.pointer(
      5,
      s.boolean(),
      'True to use a selector of your own, and to see to it that it is unique. Default false.',
    ),
    template: s.required(6, podTemplateSpec, 'The Pod to run. Its restartPolicy is Never or OnFailure.'),
    ttlSecondsAfterFinished: s.pointer(
      8,
      s.int32(),
      'Time to live of a finished job in seconds; 0 deletes it at once. Unset: it is kept.',
    ),
    completionMode: s.pointer(
      9,
      s.oneOf('v1.CompletionMode', ['NonIndexed', 'Indexed']),
      'NonIndexed (the default): any successes count. Indexed: each Pod has an index from 0, and each index must succeed.',
    ),
    suspend: s.pointer(
      10,
      s.boolean(),
      'While true there are no Pods, and the clock of the deadline stands. Default false.',
    ),
    podReplacementPolicy: s.pointer(
      14,
      s.oneOf('v1.PodReplacementPolicy', ['TerminatingOrFailed', 'Failed']),
      'Time at which a Pod is replaced: TerminatingOrFailed (the default) as soon as it is terminating, Failed only after it has failed; the latter is the default with podFailurePolicy.',
    ),
    managedBy: s.pointer(
      15,
      s.string(),
      'Name of the controller of the job, for example example.com/queue. Unset: kubernetes.io/job-controller. Immutable.',
    ),
  },
);
export type JobSpec = s.TypeOf<typeof jobSpec>;

export const jobCondition = s.object('io.k8s.api.batch.v1.JobCondition', 'A condition of a Job.', {
  type: s.required(
    1,
    s.string({ goType: 'v1.JobConditionType' }),
    'Complete, Failed, Suspended, FailureTarget or SuccessCriteriaMet; the last two come while Pods are still being stopped.',
  ),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), 'Status of the condition: True, False or Unknown.'),
  lastProbeTime: s.optional(3, s.time(), 'Time at which the condition was last probed.'),
  lastTransitionTime: s.optional(4, s.time(), 'Time at which the status of the condition last changed.'),
  reason: s.optional(5, s.string(), 'Machine-readable reason, such as BackoffLimitExceeded or DeadlineExceeded.'),
  message: s.optional(6, s.string(), 'Human-readable message with details.'),
});
export type JobCondition = s.TypeOf<typeof jobCondition>;

export const uncountedTerminatedPods = s.object(
  'io.k8s.api.batch.v1.UncountedTerminatedPods',
  'Pods that ended and are about to be counted.',
  {
    succeeded: s.optional(1, s.set(s.string({ goType: 'types.UID' })), 'The uids of those that succeeded.'),
    failed: s.optional(2, s.set(s.string({ goType: 'types.UID' })), 'The uids of those that failed.'),
  },
);
export type UncountedTerminatedPods = s.TypeOf<typeof uncountedTerminatedPods>;

export const jobStatus = s.object('io.k8s.api.batch.v1.JobStatus', 'Status of a job.', {
  conditions: s.optional(
    1,
    s.atomicList(jobCondition),
    'Conditions, for example Suspended, Complete and Failed. Complete and Failed are final.',
    { patchStrategy: 'merge', patchMergeKey: 'type' },
  ),
  startTime: s.pointer(
    2,
    s.time(),
    'Time at which the controller first observed the job, or at which it was last resumed.',
  ),
  completionTime: s.pointer(3, s.time(), 'Time at which the job succeeded. Unset if it failed.'),
  active: s.optional(4, s.int32(), 'Pods that are waiting or running and not being deleted.'),
  succeeded: s.optional(5, s.int32(), 'Pods that succeeded.'),
  failed: s.optional(6, s.int32(), 'Pods that failed.'),
  terminating: s.pointer(11, s.int32(), 'Pods that are being deleted and have not ended yet.'),
  completedIndexes: s.optional(7, s.string(), 'Indexes that succeeded, such as 0,2-4.'),
  failedIndexes: s.pointer(10, s.string(), 'Failed indexes, with backoffLimitPerIndex.'),
  uncountedTerminatedPods: s.pointer(8, uncountedTerminatedPods, 'Pods that ended and are about to be counted.'),
  ready: s.pointer(9, s.int32(), 'Active Pods that are ready.'),
});
export type JobStatus = s.TypeOf<typeof jobStatus>;

export const job = kind('io.k8s.api.batch.v1.Job', 'Runs Pods until enough of them have succeeded.', {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  scope: 'Namespaced',
  categories: ['all'],
  subresources: ['status'],
  fields: {
    spec: s.optional(2, jobSpec, 'Specification of the job.'),
    status: s.optional(3, jobStatus, 'Status of the job.'),
  },
});
export type Job = s.TypeOf<typeof job>;
