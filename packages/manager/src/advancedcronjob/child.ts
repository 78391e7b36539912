/** Child objects of an AdvancedCronJob. */
import { job } from '@kruise/api/batch/job';
import type { AdvancedCronJob, AdvancedCronJobSpec } from '@kruise/api/kruise/advancedcronjob';
import { broadcastJob } from '@kruise/api/kruise/broadcastjob';
import { imageListPullJob } from '@kruise/api/kruise/imagelistpulljob';
import { scheduledAtAnnotation } from '@kruise/api/kruise/well-known';
import type { KubernetesObject } from '@kruise/client/object-key';
import { controllerReference } from '@kruise/machinery/owner-references';
import type { TimeZone } from '@kruise/machinery/time-zone';
import { apiVersionOf } from '@kruise/schema/kind';
import type { Instant } from '@kruise/values/time';
import { formatInZone } from '@kruise/workload-kit/schedule/zoned-time';

/** Returns the kind and the template of the child. */
export function templateOf({ template }: AdvancedCronJobSpec) {
  const { jobTemplate, imageListPullJobTemplate, broadcastJobTemplate } = template;
  if (jobTemplate) return { kind: job, template: jobTemplate } as const;
  if (imageListPullJobTemplate) return { kind: imageListPullJob, template: imageListPullJobTemplate } as const;
  return { kind: broadcastJob, template: broadcastJobTemplate } as const;
}

/** Returns the name of the child for a scheduled time. */
export function childName({ metadata }: AdvancedCronJob, dueAt: Instant): string {
  return `${metadata.name}-${Math.floor(dueAt / 1000)}`;
}

export function childOf(cronJob: AdvancedCronJob, dueAt: Instant, zone: TimeZone): KubernetesObject {
  const { kind, template } = templateOf(cronJob.spec);
  const { labels, annotations } = template?.metadata ?? {};
  const { namespace } = cronJob.metadata;
  const made = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {
      name: childName(cronJob, dueAt),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels ? { labels } : {}),
      annotations: { ...annotations, [scheduledAtAnnotation]: formatInZone(dueAt, zone) },
      ownerReferences: [controllerReference(cronJob)],
    },
    ...(template?.spec ? { spec: template.spec } : {}),
  };
  return made;
}
