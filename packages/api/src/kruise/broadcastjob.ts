import * as s from '@kruise/schema';
import type { PodTemplateSpec } from '../core/pod-template.ts';
import { kind } from '../meta/kind.ts';
import { ageColumn } from './columns.ts';
import { completionPolicy } from './completion-policy.ts';
import { jobCondition } from './condition.ts';

const doc = 'Runs one Pod to its end on every node that fits.';

const failurePolicy = s.object({
  type: s.optional(
    s.oneOf(['Continue', 'FailFast', 'Pause']),
    'Effect of a failed Pod: FailFast (the default) fails the job, Pause pauses it, Continue ignores the failure.',
  ),
  restartLimit: s.optional(
    s.int32(),
    'Maximum number of container restarts of a Pod before the Pod counts as failed, with restartPolicy OnFailure. Default 0.',
  ),
});

export const broadcastJobSpec = s.object({
  parallelism: s.pointer(
    s.intOrString(),
    'Maximum number of concurrent Pods: a number, or a percentage of the matching nodes, rounded up. Unset: all.',
  ),
  template: s.required(s.preserved<PodTemplateSpec>(), 'The Pod to run; its restartPolicy is Never or OnFailure.'),
  completionPolicy: s.optional(completionPolicy, 'Completion of the job, and its removal afterwards.', {
    omitEmpty: false,
  }),
  paused: s.optional(s.boolean(), 'Creates no further Pods; running ones continue. Default false.'),
  failurePolicy: s.optional(failurePolicy, 'Policy for failed Pods.'),
});
export type BroadcastJobSpec = s.TypeOf<typeof broadcastJobSpec>;

export const broadcastJobStatus = s.object({
  conditions: s.optional(s.list(jobCondition), 'Conditions of the finished job: Complete or Failed.'),
  startTime: s.pointer(s.dateTime(), 'Time at which the controller first observed the job.'),
  completionTime: s.pointer(s.dateTime(), 'Time at which the job completed or failed.'),
  active: s.present(s.int32(), 'Pods that have not ended yet.'),
  succeeded: s.present(s.int32(), 'Pods that ended well.'),
  failed: s.present(s.int32(), 'Pods that failed.'),
  desired: s.present(s.int32(), 'Pods to run in all: the nodes that fit.'),
  phase: s.present(s.oneOf(['running', 'paused', 'completed', 'failed']), 'Phase of the job.'),
});
export type BroadcastJobStatus = s.TypeOf<typeof broadcastJobStatus>;

const facts = {
  group: 'apps.kruise.io',
  kind: 'BroadcastJob',
  plural: 'broadcastjobs',
  scope: 'Namespaced',
  shortNames: ['bcj'],
  subresources: ['status'],
  columns: [
    { name: 'Desired', type: 'integer', jsonPath: '.status.desired' },
    { name: 'Active', type: 'integer', jsonPath: '.status.active' },
    { name: 'Succeeded', type: 'integer', jsonPath: '.status.succeeded' },
    { name: 'Failed', type: 'integer', jsonPath: '.status.failed' },
    ageColumn,
  ],
  fields: {
    spec: s.present(broadcastJobSpec, 'Specification: Pod template and policies of the job.'),
    status: s.optional(broadcastJobStatus, 'Progress of the job.'),
  },
} as const;

export const broadcastJob = kind('io.kruise.apps.v1beta1.BroadcastJob', doc, { ...facts, version: 'v1beta1' });
export type BroadcastJob = s.TypeOf<typeof broadcastJob>;

export const broadcastJobV1alpha1 = kind('io.kruise.apps.v1alpha1.BroadcastJob', doc, {
  ...facts,
  version: 'v1alpha1',
});
