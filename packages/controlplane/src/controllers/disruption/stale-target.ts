/**
 * Stale disruption controller: clears the DisruptionTarget condition of a Pod that was not deleted within two minutes.
 */
import { type Pod, pod } from '@kruise/api/core/pod';
import { isBeingDeleted } from '@kruise/client/actions';
import { type Decision, defineController } from '@kruise/client/controller';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodFinished } from '@kruise/machinery/pods';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';

const timeoutMs = 120_000;

export const staleDisruptionController = defineController({
  name: 'stale-disruption',
  for: pod,
  predicate: ({ object }) => isTargeted(object),
  observe(caches, key) {
    const found = caches.of(pod).get(key);
    return found && isTargeted(found) ? found : undefined;
  },
  decide: decideStale,
});

export function decideStale(found: Pod, now: Instant): Decision<Pod['status']> {
  const since = findCondition(found.status?.conditions, 'DisruptionTarget')?.lastTransitionTime;
  const until = since ? parseTime(since) + timeoutMs : now;
  if (now < until) return { actions: [], requeueAfterSeconds: (until - now) / 1000 };
  const conditions = found.status?.conditions?.map((condition) =>
    condition.type === 'DisruptionTarget'
      ? { type: condition.type, status: 'False', lastTransitionTime: formatTime(now) }
      : condition,
  );
  return { actions: [], status: { ...found.status, conditions: conditions ?? [] } };
}

/**
 * Reports whether a Pod has the DisruptionTarget condition and is not terminating. Pods terminated by the kubelet are
 * excluded.
 */
function isTargeted(found: Pod): boolean {
  const condition = findCondition(found.status?.conditions, 'DisruptionTarget');
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return false;
  return !isBeingDeleted(found) && !isPodFinished(found);
}
