import { type JobTemplateSpec, jobTemplateSpec } from '@kruise/api/batch/cronjob';
import type { AdvancedCronJob, CronJobTemplate } from '@kruise/api/kruise/advancedcronjob';
import { isSame } from '@kruise/machinery/json-value';
import { codecOf } from '@kruise/schema/codec';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { withPullDefaults } from '../../imagepulljob/webhook/image-pull.default.ts';
import { templateAsWritten, withTemplateDefaults } from '../../webhooks/pod-template.default.ts';

const jobTemplates = codecOf(jobTemplateSpec);

/** Defaults of an AdvancedCronJob. The status in the request is dropped. */
export function defaultAdvancedCronJob(
  { status: _, ...cronJob }: AdvancedCronJob,
  old: AdvancedCronJob | undefined,
  gates: FeatureGates,
): AdvancedCronJob {
  const { spec } = cronJob;
  const isTemplateNew = !old || !isSame(spec.template, old.spec.template);
  const fill = isTemplateNew && !gates.TemplateNoDefaults;
  const pods = (template: PodTemplate) => (fill ? withTemplateDefaults(template, gates) : templateAsWritten(template));
  // Concurrent pulls of the same images are useless.
  const policy = spec.template.imageListPullJobTemplate ? 'Replace' : 'Allow';
  return {
    ...cronJob,
    spec: {
      ...spec,
      concurrencyPolicy: spec.concurrencyPolicy || policy,
      paused: spec.paused ?? false,
      successfulJobsHistoryLimit: spec.successfulJobsHistoryLimit ?? 3,
      failedJobsHistoryLimit: spec.failedJobsHistoryLimit ?? 1,
      template: withDefaults(spec.template, pods),
    },
  };
}

type PodTemplate = NonNullable<JobTemplateSpec['spec']>['template'];

function withDefaults(
  { jobTemplate, broadcastJobTemplate, imageListPullJobTemplate }: CronJobTemplate,
  pods: (template: PodTemplate) => PodTemplate,
): CronJobTemplate {
  return {
    ...(jobTemplate ? { jobTemplate: withJobDefaults(jobTemplate, pods) } : {}),
    ...(broadcastJobTemplate
      ? {
          broadcastJobTemplate: {
            metadata: {},
            ...broadcastJobTemplate,
            spec: {
              completionPolicy: {},
              failurePolicy: {},
              ...broadcastJobTemplate.spec,
              template: pods(broadcastJobTemplate.spec.template),
            },
          },
        }
      : {}),
    ...(imageListPullJobTemplate
      ? {
          imageListPullJobTemplate: {
            metadata: {},
            ...imageListPullJobTemplate,
            spec: withListDefaults(imageListPullJobTemplate.spec),
          },
        }
      : {}),
  };
}

function withJobDefaults(template: JobTemplateSpec, pods: (template: PodTemplate) => PodTemplate): JobTemplateSpec {
  const read = jobTemplates.fromJson(template);
  const spec = read.spec ?? { template: {} };
  return jobTemplates.canonical({ ...read, spec: { ...spec, template: pods(spec.template) } });
}

type ListSpec = NonNullable<CronJobTemplate['imageListPullJobTemplate']>['spec'];

/** Sets defaults, unless the template has a completion policy with a type. */
function withListDefaults(spec: ListSpec): ListSpec {
  if (spec.completionPolicy?.type) return spec;
  return { ...withPullDefaults(spec), imagePullPolicy: spec.imagePullPolicy || 'IfNotPresent' };
}
