/**
 * Warnings about workloads. An update warns only about changed templates: the client has received the earlier warnings.
 */

import { isTemplateChanged } from './apps/daemonset.strategy.ts';
import type { DaemonSet } from './apps/daemonset.ts';
import type { Deployment } from './apps/deployment.ts';
import type { ReplicaSet } from './apps/replicaset.ts';
import type { StatefulSet } from './apps/statefulset.ts';
import type { CronJob } from './batch/cronjob.ts';
import type { Job, JobSpec } from './batch/job.ts';
import { claimSpecWarnings, podOwnerNameWarnings, podTemplateWarnings } from './core/pod.warnings.ts';
import type { PodTemplate } from './core/podtemplate.ts';
import type { ReplicationController } from './core/replicationcontroller.ts';
import type { ObjectMeta } from './meta/object-meta.ts';

type Whole = { readonly metadata: ObjectMeta };

function isChanged({ metadata }: Whole, old: Whole): boolean {
  return metadata.generation !== old.metadata.generation;
}

export function* podTemplateObjectWarnings(object: PodTemplate, old: PodTemplate | undefined): Generator<string> {
  if (!old || isChanged(object, old)) yield* podTemplateWarnings(object.template, 'template');
}

/** Yields the warnings for a Deployment or a ReplicaSet. */
export function* deploymentWarnings<T extends Deployment | ReplicaSet>(
  object: T,
  old: T | undefined,
): Generator<string> {
  if (!old) yield* podOwnerNameWarnings(object.metadata.name);
  if (!old || isChanged(object, old)) yield* podTemplateWarnings(object.spec?.template, 'spec.template');
}

/** Yields the warnings for an update of a ReplicationController. They are about the old template, as in Kubernetes. */
export function* replicationControllerWarnings(
  object: ReplicationController,
  old: ReplicationController | undefined,
): Generator<string> {
  if (!old) yield* podOwnerNameWarnings(object.metadata.name);
  if (!old || isChanged(object, old)) yield* podTemplateWarnings((old ?? object).spec?.template, 'spec.template');
}

export function* daemonSetWarnings(object: DaemonSet, old: DaemonSet | undefined): Generator<string> {
  if (!old || isTemplateChanged(object, old)) yield* podTemplateWarnings(object.spec?.template, 'spec.template');
}

export function* statefulSetWarnings(object: StatefulSet, old: StatefulSet | undefined): Generator<string> {
  const { template, volumeClaimTemplates = [], revisionHistoryLimit = 0 } = object.spec ?? {};
  if (!old || isChanged(object, old)) yield* podTemplateWarnings(template, 'spec.template');
  for (const [index, claim] of volumeClaimTemplates.entries()) {
    yield* claimSpecWarnings(claim.spec ?? {}, `spec.volumeClaimTemplates[${index}]${old ? '.Spec' : ''}`);
  }
  if (revisionHistoryLimit < 0) {
    yield 'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended';
  }
}

export function* jobWarnings(object: Job, old: Job | undefined): Generator<string> {
  if (!old) yield* podOwnerNameWarnings(object.metadata.name);
  if (!old || isChanged(object, old)) yield* jobSpecWarnings(object.spec, 'spec');
}

export function* cronJobWarnings(object: CronJob, old: CronJob | undefined): Generator<string> {
  if (!old) yield* podOwnerNameWarnings(object.metadata.name);
  if (!old || isChanged(object, old)) yield* jobSpecWarnings(object.spec?.jobTemplate.spec, 'spec.jobTemplate.spec');
  if (old && object.spec?.schedule.includes('TZ')) {
    const more = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/';
    yield `cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see ${more} for more details`;
  }
}

const manyCompletions = 100_000;
const manyAtOnce = 10_000;

function* jobSpecWarnings(spec: JobSpec | undefined, path: string): Generator<string> {
  if (!spec) return;
  const { completionMode, completions = 0, parallelism = 0 } = spec;
  if (completionMode === 'Indexed' && completions > manyCompletions && parallelism > manyAtOnce) {
    yield `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`;
  }
  yield* podTemplateWarnings(spec.template, `${path}.template`);
}
