import * as s from '@kruise/schema';
import type { EphemeralContainer } from '../core/container.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { ageColumn } from './columns.ts';
import { jobCondition } from './condition.ts';

const template = s.object({
  ephemeralContainers: s.required(
    s.preserved<readonly EphemeralContainer[]>(),
    'The containers to add to each Pod. imagePullPolicy and terminationMessagePolicy must be written out.',
  ),
});

export const ephemeralJobSpec = s.object({
  selector: s.required(labelSelector, 'The Pods to add containers to, by label, in the same namespace.', {
    pointer: true,
  }),
  replicas: s.pointer(s.int32(), 'Maximum number of matching Pods that are used. Unset: all.'),
  parallelism: s.pointer(s.int32(), 'Maximum number of Pods in which the containers run concurrently. Default 1.'),
  template: s.required(template, 'Template of the ephemeral containers.'),
  paused: s.optional(s.boolean(), 'Adds containers to no further Pods. Default false.'),
  activeDeadlineSeconds: s.pointer(s.int64(), 'Seconds after which an unfinished job fails. Unset: no limit.'),
  ttlSecondsAfterFinished: s.pointer(
    s.int32(),
    'Time to live of a finished job in seconds; 0 deletes it at once. Default 1800.',
  ),
});
export type EphemeralJobSpec = s.TypeOf<typeof ephemeralJobSpec>;

export const ephemeralJobStatus = s.object({
  conditions: s.optional(
    s.list(jobCondition),
    'Conditions of the job: Initialized, MatchedEmpty, JobSucceeded, JobFailed or JobError.',
  ),
  startTime: s.pointer(s.dateTime(), 'Time at which the controller first observed the job.'),
  completionTime: s.pointer(s.dateTime(), 'Time at which the job completed or failed.'),
  phase: s.present(
    s.oneOf(['Succeeded', 'Failed', 'Waiting', 'Running', 'Paused', 'Error', 'Unknown']),
    'Phase of the job.',
  ),
  match: s.present(s.int32(), 'Pods the job is about.'),
  running: s.present(s.int32(), 'Pods whose added containers run.'),
  succeeded: s.present(s.int32(), 'Pods whose added containers ended well.'),
  waiting: s.present(s.int32(), 'Pods whose added containers have not started.'),
  failed: s.present(s.int32(), 'Pods in which an added container failed.'),
});
export type EphemeralJobStatus = s.TypeOf<typeof ephemeralJobStatus>;

export const ephemeralJob = kind(
  'io.kruise.apps.v1alpha1.EphemeralJob',
  'Adds ephemeral containers to running Pods, and watches them to their end.',
  {
    group: 'apps.kruise.io',
    version: 'v1alpha1',
    kind: 'EphemeralJob',
    plural: 'ephemeraljobs',
    scope: 'Namespaced',
    shortNames: ['ejob'],
    subresources: ['status'],
    columns: [
      { name: 'STATUS', type: 'string', jsonPath: '.status.phase' },
      { name: 'MATCH', type: 'integer', jsonPath: '.status.match' },
      { name: 'SUCCEED', type: 'integer', jsonPath: '.status.succeeded' },
      { name: 'FAILED', type: 'integer', jsonPath: '.status.failed' },
      { name: 'RUNNING', type: 'integer', jsonPath: '.status.running' },
      { name: 'WAITING', type: 'integer', jsonPath: '.status.waiting' },
      ageColumn,
    ],
    fields: {
      spec: s.present(ephemeralJobSpec, 'Specification: ephemeral containers, and the Pods that get them.'),
      status: s.optional(ephemeralJobStatus, 'Progress of the job.'),
    },
  },
);
export type EphemeralJob = s.TypeOf<typeof ephemeralJob>;
