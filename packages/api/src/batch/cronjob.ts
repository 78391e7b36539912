import * as s from '@kruise/schema';
import { objectReference } from '../core/reference.ts';
import { kind } from '../meta/kind.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { jobSpec } from './job.ts';

export const jobTemplateSpec = s.object('io.k8s.api.batch.v1.JobTemplateSpec', 'A job to be made.', {
  metadata: s.optional(1, objectMeta, 'Labels and annotations for the job.'),
  spec: s.optional(2, jobSpec, 'Specification of the jobs.'),
});
export type JobTemplateSpec = s.TypeOf<typeof jobTemplateSpec>;

export const cronJobSpec = s.object('io.k8s.api.batch.v1.CronJobSpec', 'Specification: schedule and job template.', {
  schedule: s.required(
    1,
    s.string(),
    'Schedule in cron format: minute, hour, day of month, month and day of week, or a macro such as @hourly or @daily.',
  ),
  timeZone: s.pointer(
    8,
    s.string(),
    'IANA time zone of the schedule, for example Europe/Berlin. Unset: the time zone of kube-controller-manager.',
  ),
  startingDeadlineSeconds: s.pointer(
    2,
    s.int64(),
    'A start missed by more than these seconds is skipped. Unset: no limit.',
  ),
  concurrencyPolicy: s.optional(
    3,
    s.oneOf('v1.ConcurrencyPolicy', ['Allow', 'Forbid', 'Replace']),
    'Policy while the last job is still running: Allow (the default) starts another one, Forbid skips the new one, Replace deletes the old one first.',
  ),
  suspend: s.pointer(4, s.boolean(), 'Suspends the schedule: no jobs are started. Default false.'),
  jobTemplate: s.required(5, jobTemplateSpec, 'The job to start.'),
  successfulJobsHistoryLimit: s.pointer(6, s.int32(), 'Number of successful jobs to keep. Default 3.'),
  failedJobsHistoryLimit: s.pointer(7, s.int32(), 'Number of failed jobs to keep. Default 1.'),
});
export type CronJobSpec = s.TypeOf<typeof cronJobSpec>;

export const cronJobStatus = s.object(
  'io.k8s.api.batch.v1.CronJobStatus',
  'Status: active jobs and times of the last runs.',
  {
    active: s.optional(1, s.atomicList(objectReference), 'Jobs that have not ended yet.'),
    lastScheduleTime: s.pointer(4, s.time(), 'Time at which a job was last scheduled.'),
    lastSuccessfulTime: s.pointer(5, s.time(), 'Time at which a job last succeeded.'),
  },
);
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
      spec: s.optional(2, cronJobSpec, 'Specification: schedule and job template.'),
      status: s.optional(3, cronJobStatus, 'Status: active jobs and times of the last runs.'),
    },
  },
);
export type CronJob = s.TypeOf<typeof cronJob>;
