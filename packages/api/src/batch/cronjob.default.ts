import type { Draft } from '@kruise/schema/draft';
import type { CronJob } from './cronjob.ts';
import { defaultJobTemplate } from './job.default.ts';

export function defaultCronJob({ spec }: Draft<CronJob>): void {
  if (spec === undefined) return;
  spec.concurrencyPolicy ||= 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  if (spec.jobTemplate.spec) defaultJobTemplate(spec.jobTemplate.spec);
}
