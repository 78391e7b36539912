import type { Draft } from '@kruise/schema/draft';
import { defaultPodTemplate } from '../core/pod-spec.default.ts';
import type { Job, JobSpec } from './job.ts';

const defaultBackoffLimit = 6;
const unlimited = 2 ** 31 - 1;

export function defaultJob(job: Draft<Job>): void {
  const { spec } = job;
  if (spec === undefined) return;
  const labels = spec.template.metadata?.labels;
  // The same labels object, not a copy: `job.strategy.ts` adds to it, and thereby distinguishes these labels from
  // labels of the Job itself.
  if (labels !== undefined && Object.keys(job.metadata.labels ?? {}).length === 0) job.metadata.labels = labels;

  if (spec.parallelism === undefined) spec.completions ??= 1;
  spec.parallelism ??= 1;
  // A backoffLimit for the whole Job would interfere with the limit for each index.
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? defaultBackoffLimit : unlimited;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
  spec.manualSelector ??= false;
  for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of onPodConditions ?? []) pattern.status ||= 'True';
  }
  defaultJobTemplate(spec);
}

/** Sets the defaults of a CronJob's Job template: only those of the Pod template. */
export function defaultJobTemplate(spec: Draft<JobSpec>): void {
  defaultPodTemplate(spec.template);
}
