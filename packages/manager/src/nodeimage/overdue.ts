import type { ImageTagSpec, ImageTagStatus, NodeImage, NodeImageStatus } from '@kruise/api/kruise/nodeimage';
import type { NewEvent } from '@kruise/client/actions';
import { referencedObject } from '@kruise/client/object-key';
import { compareStrings } from '@kruise/values/go-syntax';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { statusOfTag } from './tag-status.ts';

/** Time for a node to report the first status, or the result after the pull deadline. */
const responseTimeoutMs = 10 * 60_000;

export type Overdue = {
  /** New status, where a tag has failed for lack of a response. */
  readonly status?: NodeImageStatus;
  readonly events: readonly NewEvent[];
  /** Delay until the next timeout. */
  readonly waitSeconds: number | undefined;
};

type Failure = { readonly name: string; readonly tag: ImageTagSpec; readonly message: string };

/** Sets tags of unresponsive nodes to failed. */
export function failOverdue(nodeImage: NodeImage, now: Instant): Overdue {
  const waits: number[] = [];
  const failures: Failure[] = [];
  for (const [name, { tags }] of Object.entries(nodeImage.spec.images ?? {})) {
    for (const tag of tags) {
      const due = responseDeadline(nodeImage, name, tag);
      if (due === undefined) continue;
      if (due.at > now) waits.push((due.at - now) / 1000);
      else failures.push({ name, tag, message: due.message });
    }
  }
  const waitSeconds = earliestRequeue(...waits).requeueAfterSeconds;
  if (failures.length === 0) return { events: [], waitSeconds };
  return {
    status: withFailures(nodeImage, failures, now),
    events: failures.flatMap((failure) => eventsOf(nodeImage, failure)),
    waitSeconds,
  };
}

/** Returns the response deadline of a node, and the failure message; undefined where no response is expected. */
function responseDeadline(nodeImage: NodeImage, name: string, tag: ImageTagSpec) {
  if (tag.createdAt == null) return undefined;
  const latest = parseTime(tag.createdAt) + responseTimeoutMs;
  const reported = statusOfTag(nodeImage, name, tag);
  if (!reported) return { at: latest, message: 'node has not responded for a long time' };
  const deadlineSeconds = tag.pullPolicy?.activeDeadlineSeconds;
  if (reported.completionTime != null || deadlineSeconds == null) return undefined;
  return { at: latest + deadlineSeconds * 1000, message: 'pulling exceeds the activeDeadlineSeconds' };
}

function withFailures({ spec, status }: NodeImage, failures: readonly Failure[], now: Instant): NodeImageStatus {
  const imageStatuses: { [name: string]: { readonly tags: readonly ImageTagStatus[] } } = {};
  for (const [name, image] of Object.entries(spec.images ?? {})) {
    const reported = status?.imageStatuses?.[name]?.tags ?? [];
    const tags = image.tags.flatMap((tag): ImageTagStatus[] => {
      const last = reported.find((each) => each.tag === tag.tag);
      const failure = failures.find((each) => each.tag === tag);
      if (!failure) return last ? [last] : [];
      const { version = 0 } = tag;
      const { message } = failure;
      return [{ ...last, tag: tag.tag, phase: 'Failed', completionTime: formatTime(now), version, message }];
    });
    if (tags.length > 0) imageStatuses[name] = { tags: tags.sort((a, b) => compareStrings(a.tag, b.tag)) };
  }
  const all = Object.values(imageStatuses).flatMap(({ tags }) => tags);
  const count = (phase: ImageTagStatus['phase']) => all.filter((tag) => tag.phase === phase).length;
  return {
    ...status,
    desired: Object.values(spec.images ?? {}).reduce((sum, { tags }) => sum + tags.length, 0),
    succeeded: count('Succeeded'),
    failed: count('Failed'),
    pulling: count('Pulling'),
    waiting: status?.waiting ?? 0,
    imageStatuses,
  };
}

/** Returns the events for the owning jobs and for the NodeImage. */
function eventsOf(nodeImage: NodeImage, { name, tag, message }: Failure): readonly NewEvent[] {
  const about = [...(tag.ownerReferences ?? []).map(referencedObject), nodeImage];
  return about.map((object) => ({
    about: object,
    type: 'Warning',
    reason: 'PullImageFailed',
    message: `Failed to pull image ${name}:${tag.tag} on node ${nodeImage.metadata.name} for ${message}`,
  }));
}
