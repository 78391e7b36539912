/** ImageListPullJob reconciler: keeps one ImagePullJob for each image of the list. */
import type { ImageListPullJob, ImageListPullJobStatus } from '@kruise/api/kruise/imagelistpulljob';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import { type Action, create, isBeingDeleted, parallel, patch, record, remove } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { podRevisionLabel } from '@kruise/machinery/controller-revision';
import { isSame } from '@kruise/machinery/json-value';
import { controllerReference } from '@kruise/machinery/owner-references';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { templateHash, templateOf } from './template-hash.ts';

export type Observed = {
  readonly job: ImageListPullJob;
  /** ImagePullJobs that the job created. */
  readonly children: readonly ImagePullJob[];
};

export function decide({ job, children: all }: Observed, now: Instant): Decision<ImageListPullJobStatus | undefined> {
  const hash = templateHash(job.spec);
  const isMarked = job.metadata.labels?.[podRevisionLabel] === hash;
  const marks = isMarked ? [] : [patch(job, { metadata: { labels: { [podRevisionLabel]: hash } } })];
  const { completionTime } = job.status ?? {};
  if (completionTime != null) return cleanUpFinished(job, parseTime(completionTime), marks, now);

  const children = all.filter((child) => !isBeingDeleted(child));
  const status = statusOf(job, children, now);
  const current = new Set<string>();
  const outdated = children.filter((child) => {
    const { image } = child.spec;
    const isCurrent = job.spec.images.includes(image) && !current.has(image) && isUpToDate(child, job, hash);
    if (isCurrent) current.add(image);
    return !isCurrent;
  });
  const missing = job.spec.images.filter((image) => !current.has(image));
  return {
    actions: [
      ...marks,
      ...parallel(missing.map((image) => create(childFor(job, image, hash)))),
      ...countEvent(job, 'create', missing.length),
      ...parallel(outdated.map(remove)),
      ...countEvent(job, 'delete', outdated.length),
    ],
    // Failed writes do not count as progress.
    status: ({ failures }) => (failures.length > 0 ? job.status : status),
  };
}

function cleanUpFinished(
  job: ImageListPullJob,
  completedAt: Instant,
  marks: readonly Action[],
  now: Instant,
): Decision<ImageListPullJobStatus> {
  const ttlSeconds = job.spec.completionPolicy.ttlSecondsAfterFinished;
  if (ttlSeconds == null) return { actions: marks };
  const leftMs = completedAt + ttlSeconds * 1000 - now;
  return leftMs > 0 ? { actions: marks, requeueAfterSeconds: leftMs / 1000 } : { actions: [...marks, remove(job)] };
}

/**
 * Reports whether a child is up to date. A child without a hash label, from an older release, is compared by its spec.
 */
function isUpToDate(child: ImagePullJob, job: ImageListPullJob, hash: string): boolean {
  const marked = child.metadata.labels?.[podRevisionLabel];
  return marked === undefined ? isSame(templateOf(child.spec), templateOf(job.spec)) : marked === hash;
}

function childFor(job: ImageListPullJob, image: string, hash: string): ImagePullJob {
  const { namespace = '', name = '' } = job.metadata;
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'ImagePullJob',
    metadata: {
      namespace,
      generateName: `${name}-`,
      labels: { [podRevisionLabel]: hash },
      ownerReferences: [controllerReference(job)],
    },
    spec: { image, ...templateOf(job.spec) },
  };
}

function countEvent(about: ImageListPullJob, what: 'create' | 'delete', count: number): readonly Action[] {
  if (count === 0) return [];
  const verb = what === 'create' ? 'Create' : 'Delete';
  const event = { reason: `Successful ${what} ImagePullJob`, message: `${verb} ${count} ImagePullJob` };
  return [record({ about, type: 'Normal', ...event })];
}

/** Counts the images by progress; ImagePullJobs that have not started do not count. */
function statusOf(job: ImageListPullJob, children: readonly ImagePullJob[], now: Instant): ImageListPullJobStatus {
  const started = children.flatMap(({ metadata: { name = '' }, spec: { image }, status }) =>
    status?.startTime == null ? [] : [{ name, image, ...status }],
  );
  const count = (is: (child: (typeof started)[number]) => boolean) => started.filter(is).length;
  const desired = job.spec.images.length;
  const completed = count((child) => child.desired === (child.succeeded ?? 0) + (child.failed ?? 0));
  const failed = started.filter((child) => (child.failed ?? 0) > 0);
  const isOver = job.spec.completionPolicy.type !== 'Never' && completed === desired;
  return {
    startTime: job.status?.startTime ?? formatTime(now),
    ...(isOver ? { completionTime: formatTime(now) } : {}),
    desired,
    active: count((child) => (child.active ?? 0) > 0),
    completed,
    succeeded: count((child) => child.desired === (child.succeeded ?? 0)),
    ...(failed.length > 0 ? { failedImageStatuses: failed.map(failureOf) } : {}),
  };
}

function failureOf({ name, image }: { readonly name: string; readonly image: string }) {
  const message = `Please check for details which nodes failed by 'kubectl get ImagePullJob ${name}'.`;
  return { imagePullJob: name, name: image, message };
}
