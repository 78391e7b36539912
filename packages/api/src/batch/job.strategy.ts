import type { Draft } from '@kruise/schema/draft';
import { dropDisabledTemplateFields } from '../core/pod-spec.strategy.ts';
import { incrementGeneration, keepSpec, keepStatus, resetNewObject } from '../meta/strategy.ts';
import type { Job, JobSpec } from './job.ts';
import { controllerUidLabels, jobNameLabels } from './job.validate.ts';

/** Prepares a Job for creation. Its name and UID are already set, and identify its Pods. */
export function prepareJobForCreate(job: Draft<Job>): void {
  resetNewObject(job);
  if (!job.spec) return;
  if (!job.spec.manualSelector) generateSelector(job, job.spec);
  dropDisabledTemplateFields(job.spec.template, undefined);
}

export function prepareJobForUpdate(job: Draft<Job>, old: Job): void {
  keepStatus(job, old);
  dropDisabledTemplateFields(job.spec?.template, old.spec?.template);
  incrementGeneration(job, old);
}

export function prepareJobStatusUpdate(job: Draft<Job>, old: Job): void {
  keepSpec(job, old);
}

/**
 * Generates the selector and the Pod labels. A Job without labels gets those of its Pods, including the generated ones.
 */
function generateSelector({ metadata }: Draft<Job>, spec: Draft<JobSpec>): void {
  const { name = '', uid = '' } = metadata;
  const template = (spec.template.metadata ??= {});
  const generated = Object.fromEntries([
    ...jobNameLabels.map((label) => [label, name]),
    ...controllerUidLabels.map((label) => [label, uid]),
  ]);
  const isShared = metadata.labels === undefined || metadata.labels === template.labels;
  const labels = { ...generated, ...template.labels };
  template.labels = labels;
  if (isShared) metadata.labels = labels;
  const selector = (spec.selector ??= {});
  selector.matchLabels = { [controllerUidLabels[1]]: uid, ...selector.matchLabels };
}
