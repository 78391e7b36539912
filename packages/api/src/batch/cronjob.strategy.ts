import type { Draft } from '@kruise/schema/draft';
import { dropDisabledTemplateFields } from '../core/pod-spec.strategy.ts';
import { countGeneration, keepSpec, keepStatus, startAfresh } from '../meta/strategy.ts';
import type { CronJob } from './cronjob.ts';

export function prepareCronJobForCreate(object: Draft<CronJob>): void {
  startAfresh(object);
  dropDisabledTemplateFields(object.spec?.jobTemplate.spec?.template, undefined);
}

export function prepareCronJobForUpdate(object: Draft<CronJob>, old: CronJob): void {
  keepStatus(object, old);
  dropDisabledTemplateFields(object.spec?.jobTemplate.spec?.template, old.spec?.jobTemplate.spec?.template);
  countGeneration(object, old);
}

export function prepareCronJobStatusUpdate(object: Draft<CronJob>, old: CronJob): void {
  keepSpec(object, old);
}
