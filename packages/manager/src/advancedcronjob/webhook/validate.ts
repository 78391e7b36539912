/** Validation of AdvancedCronJobs. */
import { scheduleFault } from '@kruise/api/batch/cron-schedule';
import { validateTimeZone } from '@kruise/api/batch/cronjob.validate';
import { validatePodTemplateSpec } from '@kruise/api/core/pod-spec.validate';
import type { AdvancedCronJob, AdvancedCronJobSpec, CronJobTemplate } from '@kruise/api/kruise/advancedcronjob';
import type { ImageListPullJobSpec } from '@kruise/api/kruise/imagelistpulljob';
import { validateObjectMeta, validateObjectMetaUpdate } from '@kruise/api/meta/object-meta.validate';
import { isSame } from '@kruise/api/meta/same';
import { nonNegative } from '@kruise/api/meta/value.validate';
import { type Cause, forbidden, invalid } from '@kruise/schema/field-error';
import { imagesFault, nodesFault } from '../../imagepulljob/webhook/image-pull.validate.ts';
import { jobName } from '../../webhooks/job-name.ts';

export function* validateAdvancedCronJob(cronJob: AdvancedCronJob, old?: AdvancedCronJob): Generator<Cause> {
  const { metadata, spec } = cronJob;
  if (old) yield* validateObjectMetaUpdate(metadata, old.metadata);
  else yield* validateObjectMeta(metadata, { namespaced: true, name: jobName('AdvancedCronJob') });
  yield* validateSchedule(spec);
  yield* validateTemplate(spec);
  yield* nonNegative('spec.startingDeadlineSeconds', spec.startingDeadlineSeconds);
  yield* nonNegative('spec.successfulJobsHistoryLimit', spec.successfulJobsHistoryLimit);
  yield* nonNegative('spec.failedJobsHistoryLimit', spec.failedJobsHistoryLimit);
  if (spec.timeZone !== undefined) yield* validateTimeZone(spec.timeZone, 'spec.timeZone');
  if (old && !isSame(fixedPart(spec.template, old.spec.template), old.spec.template)) {
    yield forbidden(
      'spec',
      "updates to advancedcronjob spec for fields other than 'imageListPullJobTemplate', 'schedule', 'concurrencyPolicy', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit', 'startingDeadlineSeconds', 'timeZone' and 'paused' are forbidden",
    );
  }
}

/** Returns the immutable part of the templates: only the template of an ImageListPullJob may change. */
function fixedPart(template: CronJobTemplate, { imageListPullJobTemplate }: CronJobTemplate): CronJobTemplate {
  return imageListPullJobTemplate ? { ...template, imageListPullJobTemplate } : template;
}

function* validateSchedule({ schedule, timeZone }: AdvancedCronJobSpec): Generator<Cause> {
  if (schedule === '') {
    yield invalid('spec.schedule', schedule, 'schedule cannot be empty, please provide valid cron schedule.');
  }
  const fault = scheduleFault(schedule);
  if (fault !== undefined) yield invalid('spec.schedule', schedule, fault);
  if (schedule.includes('TZ') && timeZone !== undefined) {
    yield invalid('spec.schedule', schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
  }
}

function* validateTemplate({ template, concurrencyPolicy }: AdvancedCronJobSpec): Generator<Cause> {
  const { jobTemplate, broadcastJobTemplate, imageListPullJobTemplate } = template;
  if (jobTemplate) yield* validatePodTemplateSpec(jobTemplate.spec?.template ?? {}, 'spec.template');
  if (broadcastJobTemplate) yield* validatePodTemplateSpec(broadcastJobTemplate.spec.template, 'spec.template');
  if (imageListPullJobTemplate) {
    if (concurrencyPolicy !== 'Replace' && concurrencyPolicy !== 'Forbid') {
      const why = `concurrencyPolicy should be Replace or Forbid, but current value is: ${concurrencyPolicy ?? ''}`;
      // The path is the one that OpenKruise reports.
      yield invalid('spec.spec.concurrencyPolicy', concurrencyPolicy ?? '', why);
    }
    yield* validateImageList(imageListPullJobTemplate.spec, 'spec.template.imageListPullJobTemplate.spec');
  }
  const count = [jobTemplate, broadcastJobTemplate, imageListPullJobTemplate].filter(Boolean).length;
  if (count === 1) return;
  const which = 'either JobTemplate or BroadcastJobTemplate or ImageListPullJobTemplate should be provided';
  yield forbidden('spec.template', `spec ${count === 0 ? 'must have' : 'can have only'} one template, ${which}`);
}

const maxDeadlineSeconds = 86400;

/** Yields only the first error. */
function* validateImageList(spec: ImageListPullJobSpec, path: string): Generator<Cause> {
  const nodes = nodesFault(spec);
  if (nodes) return yield invalid(path, spec, nodes);
  const images = imagesFault(spec.images);
  if (images) return yield invalid(`${path}.images`, spec.images, images);
  const { type = '', activeDeadlineSeconds: deadline, ttlSecondsAfterFinished } = spec.completionPolicy;
  const policyPath = `${path}.completionPolicy`;
  if (type !== 'Always') {
    return yield invalid(
      `${policyPath}.type`,
      type,
      `completionPolicy should be Always, but current value is: ${type}`,
    );
  }
  if (deadline !== undefined && deadline > maxDeadlineSeconds) {
    const why = `activeDeadlineSeconds must be less than ${maxDeadlineSeconds}, current value is: ${deadline}`;
    return yield invalid(`${policyPath}.activeDeadlineSeconds`, deadline, why);
  }
  const { timeoutSeconds = 0 } = spec.pullPolicy ?? {};
  if (deadline !== undefined && timeoutSeconds > deadline) {
    const why = `completionPolicy.activeDeadlineSeconds must be greater than pullPolicy.timeoutSeconds(${timeoutSeconds})`;
    return yield invalid(`${policyPath}.activeDeadlineSeconds`, deadline, why);
  }
  if (ttlSecondsAfterFinished !== undefined) {
    const why = 'ttlSecondsAfterFinished is not supported in advancedCronJob';
    yield invalid(`${policyPath}.ttlSecondsAfterFinished`, ttlSecondsAfterFinished, why);
  }
}
