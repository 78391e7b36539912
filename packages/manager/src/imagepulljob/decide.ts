/**
 * ImagePullJob reconciler: pulls an image on many nodes, some at a time, by writing the image into their NodeImages.
 */
import { nameAndTagOf } from '@kruise/api/core/image-reference';
import type { Secret } from '@kruise/api/core/secret';
import type { ImagePullJob, ImagePullJobStatus } from '@kruise/api/kruise/imagepulljob';
import type { NodeImage } from '@kruise/api/kruise/nodeimage';
import { imagePullJobFinalizer } from '@kruise/api/kruise/well-known';
import {
  addFinalizer,
  hasFinalizer,
  isBeingDeleted,
  parallel,
  remove,
  removeFinalizer,
  type Step,
} from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { intValue } from '@kruise/values/int-or-string';
import { type Instant, parseTime } from '@kruise/values/time';
import { type ReconcileInterval, reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import { addImage } from './add-image.ts';
import { claimSecrets, releaseSecrets } from './secrets.ts';
import { deriveState, statusOf } from './status.ts';

export type Observed = {
  readonly job: ImagePullJob;
  /** NodeImages of the job's nodes. */
  readonly nodeImages: readonly NodeImage[];
  /** Secrets in the namespace that daemons may read. */
  readonly copies: readonly Secret[];
  /** Finds a Secret in the namespace of the job. */
  readonly findSecret: (name: string) => Secret | undefined;
};

export type Settings = {
  readonly daemonConfigNamespace: string;
  /** Extra TTL of tags after the end of their jobs. */
  readonly alwaysNodeImageTtlSeconds: number;
};

const nothing: Decision<ImagePullJobStatus> = { actions: [] };

export function decide(observed: Observed, settings: Settings, now: Instant): Decision<ImagePullJobStatus> {
  const { job, nodeImages } = observed;
  if (isBeingDeleted(job)) return finalize(observed, settings);
  const { completionTime } = job.status ?? {};
  if (completionTime != null) return cleanUpFinished(observed, settings, parseTime(completionTime), now);
  const image = nameAndTagOf(job.spec.image);
  // An invalid image allows no action; a change of the spec enqueues the job.
  if (!image) return nothing;

  const secrets = claimSecrets(observed, settings);
  const state = deriveState(job, image, nodeImages, secrets.references);
  const status = statusOf(job, state, now);
  const finalizerActions = hasFinalizer(job, imagePullJobFinalizer) ? [] : [addFinalizer(job, imagePullJobFinalizer)];
  const isOver = status.completionTime !== undefined;
  const slots = isOver ? 0 : Math.max(0, intValue(job.spec.parallelism ?? 1) - state.active.length);
  const next = state.unsynced.slice(0, slots);
  const imageActions = next.flatMap((nodeImage) =>
    addImage({ job, image, nodeImage, secrets: secrets.references, settings, now }),
  );
  return {
    actions: [...finalizerActions, ...secrets.actions, ...parallel(imageActions)],
    status,
    ...untilDeadline(job, status, now),
    minIntervalMs: reconcileIntervalFor(nodeImages.length, interval),
  };
}

/** Time between the release of a terminating job's Secrets and the reconcile that confirms it. */
const releaseConfirmationSeconds = 1;

/**
 * Releases the copied Secrets of a terminating job; a later reconcile, which finds none left, removes the finalizer. A
 * copy that a stale cache omits is thus released as well, and clients see the job terminating before it is deleted.
 */
function finalize(observed: Observed, settings: Settings): Decision<ImagePullJobStatus> {
  const { job } = observed;
  if (!hasFinalizer(job, imagePullJobFinalizer)) return nothing;
  const released = releaseSecrets(observed, settings);
  return released.length > 0
    ? { actions: released, requeueAfterSeconds: releaseConfirmationSeconds }
    : { actions: [removeFinalizer(job, imagePullJobFinalizer)] };
}

/** A job handles the reports of many nodes in one reconcile. */
const interval: ReconcileInterval = { from: 0, objectsPerMs: 20 };

/** Releases the Secrets when no more pulls are needed, and removes the finalizer. */
function releaseJob(observed: Observed, settings: Settings): readonly Step[] {
  const { job } = observed;
  if (!hasFinalizer(job, imagePullJobFinalizer)) return [];
  return [...releaseSecrets(observed, settings), removeFinalizer(job, imagePullJobFinalizer)];
}

function cleanUpFinished(
  observed: Observed,
  settings: Settings,
  completedAt: Instant,
  now: Instant,
): Decision<ImagePullJobStatus> {
  const { job } = observed;
  const actions = releaseJob(observed, settings);
  const ttlSeconds = job.spec.completionPolicy.ttlSecondsAfterFinished;
  if (ttlSeconds == null) return { actions };
  const leftMs = completedAt + ttlSeconds * 1000 - now;
  return leftMs > 0 ? { actions, requeueAfterSeconds: leftMs / 1000 } : { actions: [...actions, remove(job)] };
}

function untilDeadline({ spec }: ImagePullJob, { startTime, completionTime }: ImagePullJobStatus, now: Instant) {
  const { type, activeDeadlineSeconds: seconds } = spec.completionPolicy;
  if (type === 'Never' || seconds == null || startTime == null || completionTime != null) return {};
  return { requeueAfterSeconds: Math.max(1, seconds - (now - parseTime(startTime)) / 1000) };
}
