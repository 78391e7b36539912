/** Pod readiness controller: sets the readiness gates of newly created Pods for which no workload does. */
import { type Pod, pod } from '@kruise/api/core/pod';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import { type Decision, defineController } from '@kruise/client/controller';
import { type Instant, parseTime } from '@kruise/values/time';
import { firstReadinessOf } from './first-readiness.ts';
import { isGateUninitialized, openGates } from './pod-readiness.ts';

export const podReadinessController = defineController({
  name: 'pod-readiness-controller',
  component: 'pod-readiness-controller',
  for: pod,
  predicate: ({ type, object }) => type !== 'deleted' && isGateUninitialized(object),
  // Enough workers to be faster than the kubelets: their first status update then reports the Pod as ready at once.
  workers: 64,
  observe: (caches, key) => caches.of(pod).get(key),
  decide,
});

export function decide(found: Pod, now: Instant): Decision<Pod['status']> {
  const first = firstReadinessOf(found);
  if (!first) return { actions: [] };
  const { gates, waitMs } = first;
  const leftMs = waitMs - ageMsOf(found, now);
  if (leftMs > 0) return { actions: [], requeueAfterSeconds: leftMs / 1000 };
  // The workload may have started an update since the last read, so a concurrent write must result in a conflict.
  // Otherwise there is no precondition: while a thousand Pods start at once, kubelets write all the time.
  const atVersion = gates.includes(inPlaceUpdateReadyCondition);
  return { actions: [openGates(found, gates, now, { atVersion })] };
}

/** Returns the age of a Pod by the local clock, which may be behind. */
function ageMsOf({ metadata }: Pod, now: Instant): number {
  return metadata.creationTimestamp ? Math.abs(now - parseTime(metadata.creationTimestamp)) : Number.POSITIVE_INFINITY;
}
