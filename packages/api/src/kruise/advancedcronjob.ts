import * as s from '@kruise/schema';
import type { JobTemplateSpec } from '../batch/cronjob.ts';
import { objectReference } from '../core/reference.ts';
import { kind } from '../meta/kind.ts';
import type { ObjectMeta } from '../meta/object-meta.ts';
import { broadcastJobSpec } from './broadcastjob.ts';
import { ageColumn } from './columns.ts';
import { imageListPullJobSpec } from './imagelistpulljob.ts';

const doc = 'Starts a Job, a BroadcastJob or an ImageListPullJob by the clock.';

// The schema has no fields of this object, so a server drops all of them. Programs that pass on a template without a
// server may still have labels and annotations in it, hence the type.
const templateMetadata = s.object({}) as s.ObjectNode & s.Typed<ObjectMeta>;

const broadcastJobTemplate = s.object({
  metadata: s.optional(templateMetadata, 'Labels and annotations for the jobs.'),
  spec: s.present(broadcastJobSpec, 'Specification of the BroadcastJobs.'),
});
export type BroadcastJobTemplateSpec = s.TypeOf<typeof broadcastJobTemplate>;

const imageListPullJobTemplate = s.object({
  metadata: s.optional(templateMetadata, 'Labels and annotations for the jobs.'),
  spec: s.present(
    imageListPullJobSpec,
    'Specification of the ImageListPullJobs; the type of the completionPolicy is Always.',
  ),
});
export type ImageListPullJobTemplateSpec = s.TypeOf<typeof imageListPullJobTemplate>;

const templateFields = {
  jobTemplate: s.pointer(s.preserved<JobTemplateSpec>(), 'Start a Job of group batch like this.'),
  broadcastJobTemplate: s.pointer(broadcastJobTemplate, 'Start a BroadcastJob like this.'),
};

export const cronJobTemplate = s.object({
  ...templateFields,
  imageListPullJobTemplate: s.pointer(imageListPullJobTemplate, 'Start an ImageListPullJob like this.'),
});
export type CronJobTemplate = s.TypeOf<typeof cronJobTemplate>;

function specWith<N extends s.Node>(template: N) {
  return s.object({
    schedule: s.required(
      s.string({ minLength: 0 }),
      'Schedule in cron format: minute, hour, day of month, month and day of week, or a macro such as @daily or @every 1h30m.',
    ),
    timeZone: s.pointer(
      s.string(),
      'IANA time zone of the schedule, for example Europe/Berlin. Unset: the time zone of kruise-manager.',
    ),
    startingDeadlineSeconds: s.pointer(
      s.int64(),
      'A start missed by more than these seconds is skipped. Unset: never.',
    ),
    concurrencyPolicy: s.optional(
      s.enumeration(['Allow', 'Forbid', 'Replace']),
      'Policy while the last job is still running: Allow (the default) starts another one, Forbid skips the new one, Replace deletes the old ' +
        'one first. With imageListPullJobTemplate the default is Replace, and Allow is refused.',
    ),
    paused: s.pointer(s.boolean(), 'Suspends the schedule: no jobs are started. Default false.'),
    successfulJobsHistoryLimit: s.pointer(s.int32(), 'Number of successful jobs to keep. Default 3.'),
    failedJobsHistoryLimit: s.pointer(s.int32(), 'Number of failed jobs to keep. Default 1.'),
    template: s.required(template, 'Template of the jobs; exactly one type.'),
  });
}

export const advancedCronJobSpec = specWith(cronJobTemplate);
export type AdvancedCronJobSpec = s.TypeOf<typeof advancedCronJobSpec>;

export const advancedCronJobSpecV1alpha1 = specWith(s.object(templateFields));

export const advancedCronJobStatus = s.object({
  type: s.optional(s.oneOf(['Job', 'BroadcastJob', 'ImageListPullJob']), 'The kind of job that is started.'),
  active: s.optional(s.list(objectReference), 'Jobs that have not ended yet.'),
  lastScheduleTime: s.pointer(s.dateTime(), 'The scheduled time of the newest job there is.'),
});
export type AdvancedCronJobStatus = s.TypeOf<typeof advancedCronJobStatus>;

const facts = {
  group: 'apps.kruise.io',
  kind: 'AdvancedCronJob',
  plural: 'advancedcronjobs',
  scope: 'Namespaced',
  shortNames: ['acj'],
  subresources: ['status'],
  columns: [
    { name: 'Schedule', type: 'string', jsonPath: '.spec.schedule' },
    { name: 'Type', type: 'string', jsonPath: '.status.type' },
    { name: 'LastScheduleTime', type: 'date', jsonPath: '.status.lastScheduleTime' },
    ageColumn,
  ],
} as const;

export const advancedCronJob = kind('io.kruise.apps.v1beta1.AdvancedCronJob', doc, {
  ...facts,
  version: 'v1beta1',
  fields: {
    spec: s.present(advancedCronJobSpec, 'Specification: schedule and template of the jobs.'),
    status: s.optional(advancedCronJobStatus, 'Status: active jobs and time of the last run.'),
  },
});
export type AdvancedCronJob = s.TypeOf<typeof advancedCronJob>;

export const advancedCronJobV1alpha1 = kind('io.kruise.apps.v1alpha1.AdvancedCronJob', doc, {
  ...facts,
  version: 'v1alpha1',
  fields: {
    spec: s.present(advancedCronJobSpecV1alpha1, 'Specification: schedule and template of the jobs.'),
    status: s.optional(advancedCronJobStatus, 'Status: active jobs and time of the last run.'),
  },
});
export type AdvancedCronJobV1alpha1 = s.TypeOf<typeof advancedCronJobV1alpha1>;
