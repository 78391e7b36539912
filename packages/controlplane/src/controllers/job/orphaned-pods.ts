/**
 * Removes the tracking finalizer of orphaned Pods, which no Job counts any more: their Job is deleted or finished, or
 * has released them.
 */
import { type Job, job } from '@kruise/api/batch/job';
import { type Pod, pod } from '@kruise/api/core/pod';
import { isBeingDeleted, requireGone } from '@kruise/client/actions';
import { type Decision, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { findFinishedCondition } from '@kruise/machinery/jobs';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isExternallyManaged, isTracked, release } from './job-pods.ts';

export type Observed = {
  readonly pod: Pod;
  /** Job with the name of the Pod's owner. */
  readonly job: Job | undefined;
};

export const orphanedPodController = defineController({
  name: 'job-orphan-pod',
  component: 'job-controller',
  for: pod,
  predicate: ({ object, cause }) => isTracked(object) && (cause !== 'event' || mayBeOrphaned(object)),
  watches: [watch(job, podsOfDeletedJob)],
  observe,
  decide,
});

function observe(caches: Caches, key: Key): Observed | undefined {
  const found = caches.of(pod).get(key);
  if (!found) return undefined;
  const { namespace = '' } = found.metadata;
  const owner = controllerOf(found);
  return { pod: found, job: owner && caches.of(job).get({ namespace, name: owner.name }) };
}

export function decide({ pod: orphan, job: found }: Observed): Decision<Pod['status']> {
  const owner = controllerOf(orphan);
  if (!isTracked(orphan)) return { actions: [] };
  if (!owner) return { actions: [release(orphan)] };
  const { apiVersion, kind, name, uid } = owner;
  if (kind !== 'Job' || apiVersion !== 'batch/v1') return { actions: [] };
  if (found?.metadata.uid === uid) {
    const isOrphaned = findFinishedCondition(found.status) && !isExternallyManaged(found);
    return { actions: isOrphaned ? [release(orphan)] : [] };
  }
  const { namespace = '' } = orphan.metadata;
  return { actions: [requireGone(release(orphan), { apiVersion, kind, metadata: { name, namespace, uid } })] };
}

/** Reports whether a Pod may be orphaned. While its Job exists, a Pod belongs to the Job until it is deleted. */
function mayBeOrphaned(found: Pod): boolean {
  return isBeingDeleted(found) || controllerOf(found) === undefined;
}

function podsOfDeletedJob({ type, object, cause }: Change<Job>, caches: Caches): readonly Key[] {
  if (cause !== 'event' || (type !== 'deleted' && !findFinishedCondition(object.status))) return [];
  return caches.of(pod).controlledBy(object).filter(isTracked).map(keyOf);
}
