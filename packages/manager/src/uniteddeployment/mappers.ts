import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import { unitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import { unitedDeploymentRevisionLabel } from '@kruise/api/kruise/well-known';
import { isBeingDeleted } from '@kruise/client/actions';
import { ownersOf } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { findCondition } from '@kruise/machinery/conditions';
import { isSame } from '@kruise/machinery/json-value';

/**
 * Returns the UnitedDeployment whose counts a Pod changes, found by the Pod's revision label. Workload events may
 * arrive before the Pod events, and never report unschedulable Pods.
 */
export function deploymentOfPod(change: Change<Pod>, caches: Caches): readonly Key[] {
  const { object, previous, cause } = change;
  const revision = object.metadata.labels?.[unitedDeploymentRevisionLabel];
  // At startup every UnitedDeployment is reconciled with all of its Pods.
  if (revision === undefined || cause === 'initial') return [];
  if (previous && isSame(relevant(previous), relevant(object))) return [];
  const { namespace = '' } = object.metadata;
  const found = caches.of(controllerRevision).get({ namespace, name: revision });
  return found ? ownersOf(unitedDeployment, { ...change, object: found, previous: undefined }) : [];
}

/** Returns the fields of a Pod that counts and scheduling depend on. */
function relevant(pod: Pod) {
  const { metadata, spec, status } = pod;
  return [
    metadata.labels,
    isBeingDeleted(pod),
    status?.phase,
    Boolean(spec?.nodeName),
    findCondition(status?.conditions, 'Ready')?.status,
    findCondition(status?.conditions, 'PodScheduled')?.reason,
  ];
}
