/** Existing children of an AdvancedCronJob and their state. */
import type { Job } from '@kruise/api/batch/job';
import type { AdvancedCronJobStatus } from '@kruise/api/kruise/advancedcronjob';
import type { BroadcastJob } from '@kruise/api/kruise/broadcastjob';
import type { ImageListPullJob } from '@kruise/api/kruise/imagelistpulljob';
import { scheduledAtAnnotation } from '@kruise/api/kruise/well-known';
import type { KubernetesObject } from '@kruise/client/object-key';
import { findFinishedCondition } from '@kruise/machinery/jobs';
import { type Instant, parseTime } from '@kruise/values/time';

/** A child object. */
export type Child = Job | BroadcastJob | ImageListPullJob;

export type State = 'active' | 'succeeded' | 'failed';

export function stateOf(child: Child): State {
  if (child.kind === 'ImageListPullJob') {
    const { status } = child as ImageListPullJob;
    if (status?.completionTime == null) return 'active';
    return status.succeeded === status.desired ? 'succeeded' : 'failed';
  }
  const end = findFinishedCondition((child as Job).status);
  if (!end) return 'active';
  return end.type === 'Complete' ? 'succeeded' : 'failed';
}

/** Returns the scheduled time of a child; undefined for a missing or invalid annotation. */
export function scheduledAt({ metadata }: Child): Instant | undefined {
  const text = metadata.annotations?.[scheduledAtAnnotation] ?? '';
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? undefined : instant;
}

/** Returns the finished children beyond the history limit: children that never started first, then the oldest. */
export function outdated(children: readonly Child[], state: State, limit: number | undefined): readonly Child[] {
  if (limit === undefined) return [];
  const ended = children.filter((child) => stateOf(child) === state).sort((a, b) => startedAt(a) - startedAt(b));
  return ended.slice(0, Math.max(0, ended.length - limit));
}

function startedAt({ status }: Child): Instant {
  return status?.startTime == null ? Number.NEGATIVE_INFINITY : parseTime(status.startTime);
}

/** Returns the reference to an active child for the status. */
export function referenceTo({ apiVersion, kind, metadata }: KubernetesObject): Active[number] {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata;
  return { kind, namespace, name, uid, apiVersion, resourceVersion };
}

export type Active = NonNullable<AdvancedCronJobStatus['active']>;
