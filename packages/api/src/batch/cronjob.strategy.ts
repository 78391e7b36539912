import type { Draft } from '@kruise/schema/draft';
import { dropDisabledTemplateFields } from '../core/pod-spec.strategy.ts';
import { incrementGeneration, keepSpec, keepStatus, resetNewObject } from '../meta/strategy.ts';
import type { CronJob } from './cronjob.ts';

export function prepareCronJobForCreate(object: Draft<CronJob>): void {
  resetNewObject(object);
  dropDisabledTemplateFields(object.spec?.jobTemplate.spec?.template, undefined);
}

export function prepareCronJobForUpdate(object: Draft<CronJob>, old: CronJob): void {
  keepStatus(object, old);
  dropDisabledTemplateFields(object.spec?.jobTemplate.spec?.template, old.spec?.jobTemplate.spec?.template);
  incrementGeneration(object, old);
}

export function prepareCronJobStatusUpdate(object: Draft<CronJob>, old: CronJob): void {
  keepSpec(object, old);
}
