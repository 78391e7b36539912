import type { Draft } from '@kruise/schema/draft';
import { defaultPodTemplate } from '../core/pod-spec.default.ts';
import type { Job, JobSpec } from './job.ts';

const defaultBackoffLimit = 6;
const unlimited = 2 ** 31 - 1;

export function defaultJob(job: Draft<Job>): void {
  const { spec } = job;
  if (spec === undefined) return;
  const labels = spec.template.metadata?.labels;
  // The labels themselves and no copy: `job.strategy.ts` adds to them, and so tells these from labels of the Job's own.
  if (labels !== undefined && Object.keys(job.metadata.labels ?? {}).length === 0) job.metadata.labels = labels;

  if (spec.parallelism === undefined) spec.completions ??= 1;
  spec.parallelism ??= 1;
  // With a limit for each index the limit for all of them would only be in its way.
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

/** What the Job of a CronJob gets before there is a Job: its Pods' defaults only. */
export function defaultJobTemplate(spec: Draft<JobSpec>): void {
  defaultPodTemplate(spec.template);
}
