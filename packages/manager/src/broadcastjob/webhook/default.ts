import type { BroadcastJob } from '@kruise/api/kruise/broadcastjob';
import { isSame } from '@kruise/machinery/json-value';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { withTemplateDefaults } from '../../webhooks/pod-template.default.ts';

/** Default parallelism: as many Pods at once as there are nodes. */
const unlimited = 2147483647;

/** Defaults of a BroadcastJob. The status in the request is dropped. */
export function defaultBroadcastJob(
  { status: _, ...job }: BroadcastJob,
  old: BroadcastJob | undefined,
  gates: FeatureGates,
): BroadcastJob {
  const { template, completionPolicy, failurePolicy, parallelism = unlimited } = job.spec;
  const isTemplateNew = !old || !isSame(template, old.spec.template);
  return {
    ...job,
    spec: {
      ...job.spec,
      parallelism,
      ...(isTemplateNew && !gates.TemplateNoDefaults ? { template: withTemplateDefaults(template, gates) } : {}),
      completionPolicy: { ...completionPolicy, type: completionPolicy?.type || ('Always' as const) },
      failurePolicy: { ...failurePolicy, type: failurePolicy?.type || ('FailFast' as const) },
    },
  };
}
