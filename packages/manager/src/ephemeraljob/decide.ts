/** EphemeralJob reconciler: adds ephemeral containers to Pods, within the parallelism, until all have finished. */
import { ephemeralContainer } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { EphemeralJob, EphemeralJobStatus } from '@kruise/api/kruise/ephemeraljob';
import { ephemeralContainersCleanupFinalizer } from '@kruise/api/kruise/well-known';
import {
  hasFinalizer,
  isBeingDeleted,
  type PatchAction,
  parallel,
  remove,
  removeFinalizer,
  update,
  withFinalizer,
  withOutcomeEvents,
} from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { codecOf } from '@kruise/schema/codec';
import { type Instant, parseTime } from '@kruise/values/time';
import { hasEnded, msUntilDeadline, statusOf } from './status.ts';
import { isUntouched, ownContainers, targetsOf } from './targets.ts';

export type Observed = {
  readonly job: EphemeralJob;
  /** Pods that the selector matches. */
  readonly pods: readonly Pod[];
};

type Decided = Decision<EphemeralJobStatus>;

export function decide({ job, pods }: Observed, now: Instant): Decided {
  const isHeld = hasFinalizer(job, ephemeralContainersCleanupFinalizer);
  // Ephemeral containers cannot be removed, so the deletion waits for nothing.
  if (isBeingDeleted(job))
    return { actions: isHeld ? [removeFinalizer(job, ephemeralContainersCleanupFinalizer)] : [] };
  const { completionTime } = job.status ?? {};
  if (completionTime != null) return cleanUpFinished(job, parseTime(completionTime), now);

  const hold = isHeld ? [] : [update(withFinalizer(inGoEncoding(job), ephemeralContainersCleanupFinalizer))];
  const targets = targetsOf(job, pods);
  const status = statusOf(job, targets, now);
  if (status.phase === 'Paused' || status.completionTime !== undefined) return { actions: hold, status };
  const untilDeadlineMs = msUntilDeadline(job, status.startTime!, now);
  return {
    actions: [...hold, ...parallel(addContainers(job, targets))],
    status,
    ...(untilDeadlineMs === Number.POSITIVE_INFINITY ? {} : { requeueAfterSeconds: untilDeadlineMs / 1000 }),
  };
}

const containers = codecOf(ephemeralContainer);

/**
 * Returns the job with its containers in Go's encoding, like OpenKruise's first write of a job: users see a new
 * generation.
 */
function inGoEncoding({ spec, ...job }: EphemeralJob): EphemeralJob {
  const ephemeralContainers = (spec.template.ephemeralContainers ?? []).map((each) => containers.fromJson(each));
  return { ...job, spec: { ...spec, template: { ...spec.template, ephemeralContainers } } };
}

const defaultTtlSeconds = 1800;

function cleanUpFinished(job: EphemeralJob, completedAt: Instant, now: Instant): Decided {
  const leftMs = completedAt + (job.spec.ttlSecondsAfterFinished ?? defaultTtlSeconds) * 1000 - now;
  return leftMs > 0 ? { actions: [], requeueAfterSeconds: leftMs / 1000 } : { actions: [remove(job)] };
}

/**
 * Adds the containers to Pods, up to the parallelism. Pods whose containers have not finished count, started or not.
 */
function addContainers(job: EphemeralJob, targets: readonly Pod[]): readonly PatchAction[] {
  const added = ownContainers(job);
  if (added.length === 0) return [];
  const [untouched, touched] = [true, false].map((is) => targets.filter((pod) => isUntouched(job, pod) === is));
  const activeCount = touched!.filter((pod) => !hasEnded(job, pod)).length;
  return untouched!.slice(0, Math.max(0, (job.spec.parallelism ?? 1) - activeCount)).map((pod) => {
    const patch: PatchAction = {
      type: 'patch',
      object: pod,
      patch: { spec: { ephemeralContainers: added } },
      patchType: 'strategic',
      subresource: 'ephemeralcontainers',
    };
    const message = `failed to create ephemeral container in pod ${pod.metadata.namespace}/${pod.metadata.name}: {error}`;
    return withOutcomeEvents(patch, { about: job, failed: { reason: 'CreateFailed', message } });
  });
}
