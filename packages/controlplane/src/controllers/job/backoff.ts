/**
 * Backoff of a Job before it creates another Pod: ten seconds after the first failure, doubled after each further one.
 */
import type { ContainerStatus, Pod } from '@kruise/api/core/pod';
import { findCondition } from '@kruise/machinery/conditions';
import { type Instant, parseTime } from '@kruise/values/time';
import { failuresBefore } from './job-pods.ts';

const firstMs = 10_000;
const maxMs = 600_000;

/** Returns the remaining backoff by the finished Pods: failures before the last success are ignored. */
export function backoffMs(
  { succeeded, failed }: { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[] },
  now: Instant,
): number {
  const lastSuccess = latest(succeeded.map(finishedAt));
  const failures = failed.map(finishedAt).filter((time) => time > lastSuccess);
  return remainingMs(failures.length, latest(failures), now);
}

/** Returns the remaining backoff of an index after its last Pod failed. */
export function indexBackoffMs(lastFailed: Pod | undefined, now: Instant): number {
  if (!lastFailed) return 0;
  const { counted, ignored } = failuresBefore(lastFailed);
  return remainingMs(counted + ignored + 1, finishedAt(lastFailed), now);
}

function remainingMs(failures: number, lastFailure: Instant, now: Instant): number {
  if (failures === 0) return 0;
  return Math.max(0, lastFailure + Math.min(maxMs, firstMs * 2 ** (failures - 1)) - now);
}

function latest(times: readonly Instant[]): Instant {
  return times.reduce((last, time) => Math.max(last, time), Number.NEGATIVE_INFINITY);
}

/** Returns when a Pod finished, as precisely as known. */
export function finishedAt(pod: Pod): Instant {
  const { metadata, status } = pod;
  const ended = containersEndedAt(pod);
  if (ended !== undefined) return ended;
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status === 'False' && ready.lastTransitionTime) return parseTime(ready.lastTransitionTime);
  if (metadata.deletionTimestamp) {
    return parseTime(metadata.deletionTimestamp) - Number(metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  }
  return metadata.creationTimestamp ? parseTime(metadata.creationTimestamp) : Number.NEGATIVE_INFINITY;
}

/** Returns when the last container terminated, if all have. Sidecars may run longer than the others. */
function containersEndedAt({ spec, status }: Pod): Instant | undefined {
  const sidecars = new Set(
    spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const statuses: readonly ContainerStatus[] = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  const times = statuses.map(({ state }) => state?.terminated?.finishedAt);
  if (times.length === 0 || !times.every((time) => time != null)) return undefined;
  return latest(times.map(parseTime));
}
