import { type Cause, invalid, notSupported, required } from '@kruise/schema/field-error';
import { invalidStructure } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { nonNegative, oneOf } from '../meta/value.validate.ts';
import { scheduleFault } from './cron-schedule.ts';
import type { CronJob, CronJobSpec, JobTemplateSpec } from './cronjob.ts';
import { validateJobSpec } from './job.validate.ts';
import { isTimeZone } from './time-zone.ts';

// A Job's name is the CronJob's name plus eleven characters, and becomes a label value.
const maxNameLength = 52;

export function* validateCronJob({ metadata, spec }: CronJob): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  if (spec) yield* validateSpec(spec, undefined);
  if (Buffer.byteLength(metadata.name ?? '') > maxNameLength) {
    yield invalid('metadata.name', metadata.name, `must be no more than ${maxNameLength} characters`);
  }
}

export function* validateCronJobUpdate({ metadata, spec }: CronJob, old: CronJob): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  if (spec) yield* validateSpec(spec, old.spec);
}

function* validateSpec(spec: CronJobSpec, old: CronJobSpec | undefined): Generator<Cause> {
  const { schedule, timeZone, concurrencyPolicy } = spec;
  if (schedule) yield* validateSchedule(spec, old);
  else yield required('spec.schedule');
  yield* nonNegative('spec.startingDeadlineSeconds', spec.startingDeadlineSeconds);
  if (timeZone !== undefined && timeZone !== old?.timeZone) yield* validateTimeZone(timeZone, 'spec.timeZone');
  if (concurrencyPolicy) yield* oneOf('spec.concurrencyPolicy', concurrencyPolicy, ['Allow', 'Forbid', 'Replace']);
  else yield required('spec.concurrencyPolicy');
  yield* validateJobTemplate(spec.jobTemplate, 'spec.jobTemplate.spec');
  yield* nonNegative('spec.successfulJobsHistoryLimit', spec.successfulJobsHistoryLimit);
  yield* nonNegative('spec.failedJobsHistoryLimit', spec.failedJobsHistoryLimit);
}

function* validateSchedule({ schedule, timeZone }: CronJobSpec, old: CronJobSpec | undefined): Generator<Cause> {
  const fault = scheduleFault(schedule);
  if (fault !== undefined) yield invalid('spec.schedule', schedule, fault);
  if (!schedule.includes('TZ')) return;
  const hadZone = old?.schedule.includes('TZ') ?? false;
  if (!hadZone) {
    yield invalid('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
  } else if (timeZone !== undefined) {
    yield invalid('spec.schedule', schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
  }
}

const zonePart = /^[A-Za-z.\-_0-9+]{1,14}$/;

/** Validates a time zone: a name of the IANA database. The local zone of the controller is not allowed. */
export function* validateTimeZone(zone: string, path: string): Generator<Cause> {
  if (zone === '') return yield invalid(path, zone, 'timeZone must be nil or non-empty string');
  const isPath = zone
    .split('/')
    .every((part) => part !== '.' && part !== '..' && !part.startsWith('-') && zonePart.test(part));
  if (!isPath) return yield invalid(path, zone, `unknown time zone ${zone}`);
  if (zone.toLowerCase() === 'local') {
    yield invalid(path, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  }
  // Go accepts `Local`.
  if (zone !== 'Local' && !isTimeZone(zone)) yield invalid(path, zone, `unknown time zone ${zone}`);
}

function* validateJobTemplate({ spec }: JobTemplateSpec, path: string): Generator<Cause> {
  if (!spec) return;
  yield* validateJobSpec(spec, path);
  if (spec.selector) {
    yield invalidStructure(`${path}.selector`, 'v1.LabelSelector', spec.selector, '`selector` will be auto-generated');
  }
  if (spec.manualSelector) yield notSupported(`${path}.manualSelector`, true, ['nil', 'false']);
}
