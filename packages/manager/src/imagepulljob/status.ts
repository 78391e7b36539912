import type { ImagePullJob, ImagePullJobStatus } from '@kruise/api/kruise/imagepulljob';
import type { NodeImage, PullSecret } from '@kruise/api/kruise/nodeimage';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { statusOfTag } from '../nodeimage/tag-status.ts';
import { compareNames, type ImageTag, isWantedBy, missingSecrets, tagOf } from './image-tag.ts';

/** Derived state of one ImagePullJob reconcile: the progress of each node. */
export type State = {
  readonly succeeded: readonly NodeImage[];
  readonly failed: readonly NodeImage[];
  readonly active: readonly NodeImage[];
  /** NodeImages that lack the tag or a secret, by name; some of them are counted above, too. */
  readonly unsynced: readonly NodeImage[];
  readonly desired: number;
};

/** Counts the NodeImages by the phase of the image. */
export function deriveState(
  job: ImagePullJob,
  image: ImageTag,
  nodeImages: readonly NodeImage[],
  secrets: readonly PullSecret[],
): State {
  const unsynced = new Set<NodeImage>();
  const counted = { Succeeded: [] as NodeImage[], Failed: [] as NodeImage[], active: [] as NodeImage[] };
  for (const nodeImage of nodeImages) {
    const spec = nodeImage.spec.images?.[image.name];
    if (spec && missingSecrets(spec, secrets).length > 0) unsynced.add(nodeImage);
    const tag = spec && tagOf(spec, image);
    if (!tag || !isWantedBy(tag, job)) {
      unsynced.add(nodeImage);
      continue;
    }
    const phase = statusOfTag(nodeImage, image.name, tag)?.phase;
    counted[phase === 'Succeeded' || phase === 'Failed' ? phase : 'active'].push(nodeImage);
  }
  return {
    succeeded: counted.Succeeded,
    failed: counted.Failed,
    active: counted.active,
    unsynced: [...unsynced].sort(compareNames),
    desired: nodeImages.length,
  };
}

export function statusOf(job: ImagePullJob, state: State, now: Instant): ImagePullJobStatus {
  const { succeeded, failed, active, unsynced, desired } = state;
  const startTime = job.status?.startTime ?? formatTime(now);
  const ended = succeeded.length + failed.length;
  if (ended < desired && isPastDeadline(job, parseTime(startTime), now)) {
    const isDone = new Set(succeeded);
    const lost = namesOf([...failed, ...active, ...unsynced].filter((nodeImage) => !isDone.has(nodeImage)));
    return {
      startTime,
      completionTime: formatTime(now),
      desired,
      active: 0,
      succeeded: succeeded.length,
      failed: lost.length,
      message: 'job exceeds activeDeadlineSeconds',
      failedNodes: lost,
    };
  }
  const isOver = job.spec.completionPolicy.type !== 'Never' && ended === desired;
  return {
    startTime,
    ...(isOver ? { completionTime: formatTime(now) } : {}),
    desired,
    active: active.length,
    succeeded: succeeded.length,
    failed: failed.length,
    message: isOver ? 'job has completed' : `job is running, ${progressOf(ended, desired)}`,
    ...(failed.length > 0 ? { failedNodes: namesOf(failed) } : {}),
  };
}

function progressOf(ended: number, desired: number): string {
  return desired === 0 ? 'no progress' : `progress ${((100 * ended) / desired).toFixed(1)}%`;
}

function isPastDeadline({ spec }: ImagePullJob, startedAt: Instant, now: Instant): boolean {
  const { type, activeDeadlineSeconds: seconds } = spec.completionPolicy;
  return type !== 'Never' && seconds != null && seconds * 1000 <= now - startedAt;
}

/** Returns each name once: a node that pulls the image may lack a secret as well. */
function namesOf(nodeImages: readonly NodeImage[]): readonly string[] {
  return [...new Set(nodeImages.toSorted(compareNames).map(({ metadata }) => metadata.name ?? ''))];
}
