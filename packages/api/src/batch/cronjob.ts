import * as s from '@kruise/schema';
import { jobSpec } from './job.ts';
import { kind } from '../meta/kind.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { objectReference } from '../core/reference.ts';

export const jobTemplateSpec = s.object('io.k8s.api.batch.v1.JobTemplateSpec', '', {
  metadata: s.optional(1, objectMeta, ''),
  spec: s.optional(2, jobSpec, ''),
});
export type JobTemplateSpec = s.TypeOf<typeof jobTemplateSpec>;

export const cronJobSpec = s.object('io.k8s.api.batch.v1.CronJobSpec', '', {
  schedule: s.required(1, s.string(), ''),
  timeZone: s.pointer(8, s.string(), ''),
  startingDeadlineSeconds: s.pointer(2, s.int64(), ''),
  concurrencyPolicy: s.optional(3, s.oneOf('v1.ConcurrencyPolicy', ['Allow', 'Forbid', 'Replace']), ''),
  suspend: s.pointer(4, s.boolean(), ''),
  jobTemplate: s.required(5, jobTemplateSpec, ''),
  successfulJobsHistoryLimit: s.pointer(6, s.int32(), ''),
  failedJobsHistoryLimit: s.pointer(7, s.int32(), ''),
});
export type CronJobSpec = s.TypeOf<typeof cronJobSpec>;

export const cronJobStatus = s.object('io.k8s.api.batch.v1.CronJobStatus', '', {
  active: s.optional(1, s.atomicList(objectReference), ''),
  lastScheduleTime: s.pointer(4, s.time(), ''),
  lastSuccessfulTime: s.pointer(5, s.time(), ''),
});
export type CronJobStatus = s.TypeOf<typeof cronJobStatus>;

export const cronJob = kind('io.k8s.api.batch.v1.CronJob', '', {
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  scope: 'Namespaced',
  shortNames: ['cj'],
  categories: ['all'],
  subresources: ['status'],
  fields: {
    spec: s.optional(2, cronJobSpec, ''),
    status: s.optional(3, cronJobStatus, ''),
  },
});
export type CronJob = s.TypeOf<typeof cronJob>;
