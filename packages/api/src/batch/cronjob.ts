import * as s from '@kruise/schema';
import { objectReference } from '../core/reference.ts';
import { kind } from '../meta/kind.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { jobSpec } from './job.ts';

export const jobTemplateSpec = s.object('io.k8s.api.batch.v1.JobTemplateSpec', 'A job to be made.', {
  metadata: s.optional(1, objectMeta, 'Labels and annotations for the job.'),
  spec: s.optional(2, jobSpec, 'What the job is to do.'),
});
export type JobTemplateSpec = s.TypeOf<typeof jobTemplateSpec>;

export const cronJobSpec = s.object('io.k8s.api.batch.v1.CronJobSpec', 'When to start which job.', {
  schedule: s.required(
    1,
    s.string(),
    'When to start: minute, hour, day of month, month and day of week, or @hourly, @daily and the like.',
  ),
  timeZone: s.pointer(
    8,
    s.string(),
    'The IANA zone the schedule is read in, such as Europe/Berlin. Unset: that of kube-controller-manager.',
  ),
  startingDeadlineSeconds: s.pointer(
    2,
    s.int64(),
    'A start missed by more than these seconds is skipped. Unset: no limit.',
  ),
  concurrencyPolicy: s.optional(
    3,
    s.oneOf('v1.ConcurrencyPolicy', ['Allow', 'Forbid', 'Replace']),
    'If the last job still runs: Allow (the default) starts another, Forbid skips this one, Replace ends the old one first.',
  ),
  suspend: s.pointer(4, s.boolean(), 'Starts nothing while true. Default false.'),
  jobTemplate: s.required(5, jobTemplateSpec, 'The job to start.'),
  successfulJobsHistoryLimit: s.pointer(6, s.int32(), 'How many jobs that succeeded are kept. Default 3.'),
  failedJobsHistoryLimit: s.pointer(7, s.int32(), 'How many jobs that failed are kept. Default 1.'),
});
export type CronJobSpec = s.TypeOf<typeof cronJobSpec>;

export const cronJobStatus = s.object('io.k8s.api.batch.v1.CronJobStatus', 'What has been started.', {
  active: s.optional(1, s.atomicList(objectReference), 'Jobs that have not ended yet.'),
  lastScheduleTime: s.pointer(4, s.time(), 'When a job was last started.'),
  lastSuccessfulTime: s.pointer(5, s.time(), 'When a job last succeeded.'),
});
export type CronJobStatus = s.TypeOf<typeof cronJobStatus>;

export const cronJob = kind(
  'io.k8s.api.batch.v1.CronJob',
  'Starts a job by the clock. Its name has 52 characters at most.',
  {
    group: 'batch',
    version: 'v1',
    kind: 'CronJob',
    plural: 'cronjobs',
    scope: 'Namespaced',
    shortNames: ['cj'],
    categories: ['all'],
    subresources: ['status'],
    fields: {
      spec: s.optional(2, cronJobSpec, 'When to start what.'),
      status: s.optional(3, cronJobStatus, 'What has been started.'),
    },
  },
);
export type CronJob = s.TypeOf<typeof cronJob>;
