/** ContainerRecreateRequest reconciler: the part of the manager, beside the daemon's part. */
import type { Pod } from '@kruise/api/core/pod';
import type {
  ContainerRecreateRequest,
  ContainerRecreateRequestStatus,
} from '@kruise/api/kruise/containerrecreaterequest';
import {
  preRecreateGraceCondition,
  recreateActiveLabel,
  recreatePodUidLabel,
  recreateUnreadyAcquired,
} from '@kruise/api/kruise/well-known';
import {
  type Action,
  addFinalizer,
  hasFinalizer,
  isBeingDeleted,
  parallelByKind,
  patch,
  remove,
  removeFinalizer,
} from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { isSame } from '@kruise/machinery/json-value';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { holdNotReady, releaseNotReady } from '../workload/readiness/pod-readiness.ts';

export type Observed = {
  readonly request: ContainerRecreateRequest;
  /** Pod with the requested name, which may have another UID than the request. */
  readonly pod: Pod | undefined;
};

type Decided = Decision<ContainerRecreateRequestStatus>;

/** Time for the daemon of a node to accept a request. */
const daemonTimeoutSeconds = 60;
/** Interval of reconciles while containers restart: the Pod status may be stale. */
const pollSeconds = 3;

export function decide({ request, pod }: Observed, now: Instant): Decided {
  const { spec, status, metadata } = request;
  const isOver = status?.completionTime != null;
  if (isOver || isBeingDeleted(request)) return releasePod({ request, pod }, now);
  const podExists = pod && !isBeingDeleted(pod) && pod.metadata.uid === metadata.labels?.[recreatePodUidLabel];
  if (!podExists) return complete(request, 'pod has gone', now);

  const ageSeconds = (now - parseTime(metadata.creationTimestamp ?? formatTime(now))) / 1000;
  const daemonTimeLeft = status?.phase ? undefined : daemonTimeoutSeconds - ageSeconds;
  if (daemonTimeLeft !== undefined && daemonTimeLeft <= 0) {
    return complete(request, 'daemon has not responded for a long time', now);
  }
  const deadline =
    spec.activeDeadlineSeconds === undefined ? undefined : Number(spec.activeDeadlineSeconds) - ageSeconds;
  if (deadline !== undefined && deadline <= 0) {
    return complete(request, 'recreating has exceeded the activeDeadlineSeconds', now);
  }
  if (status?.phase !== 'Recreating') return { actions: [], ...earliestRequeue(daemonTimeLeft, deadline) };
  const seen = withSnapshot(request, status, pod);
  return { ...holdPodNotReady(request, seen, pod, now), ...earliestRequeue(deadline, pollSeconds) };
}

/** Releases the not-ready condition of the Pod, and deletes the request after its TTL. */
function releasePod({ request, pod }: Observed, now: Instant): Decided {
  const steps: Action[] = [];
  if (hasFinalizer(request, recreateUnreadyAcquired)) {
    steps.push(
      ...(pod ? releaseNotReady(pod, keyOf(request), now) : []),
      removeFinalizer(request, recreateUnreadyAcquired),
    );
  }
  if (isBeingDeleted(request)) return { actions: parallelByKind(steps) };
  if (request.metadata.labels?.[recreateActiveLabel] !== undefined) {
    steps.push(patch(request, { metadata: { labels: { [recreateActiveLabel]: null } } }));
  }
  const { ttlSecondsAfterFinished: ttlSeconds } = request.spec;
  if (steps.length > 0 || ttlSeconds === undefined) return { actions: parallelByKind(steps) };
  const leftMs = parseTime(request.status!.completionTime!) + ttlSeconds * 1000 - now;
  return leftMs > 0 ? { actions: [], requeueAfterSeconds: leftMs / 1000 } : { actions: [remove(request)] };
}

function complete({ status }: ContainerRecreateRequest, message: string, now: Instant): Decided {
  return { actions: [], status: { ...status, phase: 'Completed', completionTime: formatTime(now), message } };
}

/** Copies the status of containers that started after the creation of the request, for the daemon to read. */
function withSnapshot(
  { metadata, spec }: ContainerRecreateRequest,
  status: ContainerRecreateRequestStatus,
  pod: Pod,
): ContainerRecreateRequestStatus {
  const since = parseTime(metadata.creationTimestamp ?? formatTime(0));
  const snapshot = spec.containers.flatMap(({ name }) => {
    const found = pod.status?.containerStatuses?.find((each) => each.name === name);
    const startedAt = found?.state?.running?.startedAt;
    if (!found || !startedAt || parseTime(startedAt) < since) return [];
    const { ready, restartCount, containerID } = found;
    return [{ name, ready, restartCount, ...(containerID ? { containerID } : {}) }];
  });
  const isNews = snapshot.length > 0 && !isSame(snapshot, status.containerStatusSnapshot);
  return isNews ? { ...status, containerStatusSnapshot: snapshot } : status;
}

/** Holds the Pod not ready, where the request demands a grace period, and records the time in a condition. */
function holdPodNotReady(
  request: ContainerRecreateRequest,
  status: ContainerRecreateRequestStatus,
  pod: Pod,
  now: Instant,
): Decided {
  const isWanted = request.spec.strategy?.unreadyGracePeriodSeconds !== undefined;
  if (!isWanted || isConditionTrue(status.conditions, preRecreateGraceCondition)) return { actions: [], status };
  const hold = holdNotReady(pod, keyOf(request), now);
  const finalizer = hold.length > 0 && !hasFinalizer(request, recreateUnreadyAcquired);
  const acquired = {
    type: preRecreateGraceCondition,
    status: 'True' as const,
    lastTransitionTime: formatTime(now),
    reason: preRecreateGraceCondition,
    message: 'Pod has been forced to not-ready for unreadyGracePeriodSeconds drain',
  };
  const others = (status.conditions ?? []).filter(({ type }) => type !== preRecreateGraceCondition);
  return {
    actions: [...(finalizer ? [addFinalizer(request, recreateUnreadyAcquired)] : []), ...hold],
    status: ({ failures, isStale }) =>
      failures.length > 0 || isStale ? status : { ...status, conditions: [...others, acquired] },
  };
}

function keyOf({ metadata: { namespace, name } }: ContainerRecreateRequest) {
  return { userAgent: 'ContainerRecreateRequest', key: `${namespace}/${name}` };
}
