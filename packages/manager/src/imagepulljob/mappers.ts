/** Event filters: ImagePullJobs to enqueue when an object changes, as few as possible. */
import { nameAndTagOf } from '@kruise/api/core/image-reference';
import type { Pod } from '@kruise/api/core/pod';
import type { Secret } from '@kruise/api/core/secret';
import { type ImagePullJob, imagePullJob } from '@kruise/api/kruise/imagepulljob';
import type { NodeImage } from '@kruise/api/kruise/nodeimage';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { selectorOf } from '@kruise/machinery/label-selector';
import { maySelect } from './nodes.ts';

/** Returns the jobs to enqueue when a NodeImage is added, deleted or relabelled, or reports a change of an image. */
export function jobsOfNodeImage({ type, object, previous }: Change<NodeImage>, caches: Caches): readonly Key[] {
  const jobs = caches.of(imagePullJob);
  if (type !== 'updated' || !previous || isBeingDeleted(object)) {
    return keysOf(jobs.byIndex(running, 'yes').filter((job) => maySelect(job, object)));
  }
  const isRelabelled = !isSame(previous.metadata.labels, object.metadata.labels);
  const moved = isRelabelled
    ? jobs.byIndex(running, 'yes').filter((job) => maySelect(job, previous) !== maySelect(job, object))
    : [];
  const changedJobs = changedImages(previous, object).flatMap((image) => jobs.byIndex(byImage, image));
  return keysOf([...moved, ...changedJobs.filter((job) => maySelect(job, object))]);
}

/** Returns the jobs to enqueue when a Pod is scheduled or deleted, or its labels change. */
export function jobsOfPod({ type, object, previous }: Change<Pod>, caches: Caches): readonly Key[] {
  const { namespace = '', labels } = object.metadata;
  if (!object.spec?.nodeName) return [];
  const jobs = caches.of(imagePullJob).byIndex(bySelectedPods, namespace);
  if (jobs.length === 0) return [];
  const selects = ({ spec }: ImagePullJob, of: Pod) => selectorOf(spec.podSelector).matches(of.metadata.labels);
  const hasLeft = isBeingDeleted(object) && !(previous && isBeingDeleted(previous));
  const isNew = type !== 'updated' || !previous?.spec?.nodeName || hasLeft;
  if (isNew) return keysOf(jobs.filter((job) => selects(job, object)));
  if (isSame(previous.metadata.labels, labels)) return [];
  return keysOf(jobs.filter((job) => selects(job, previous) !== selects(job, object)));
}

/** Returns the jobs to enqueue when their pull secret is created or changed. */
export function jobsOfSecret(daemonConfigNamespace: string) {
  return ({ type, object, previous }: Change<Secret>, caches: Caches): readonly Key[] => {
    const { namespace } = object.metadata;
    if (type === 'deleted' || isBeingDeleted(object) || namespace === daemonConfigNamespace) return [];
    if (previous && isSame(previous.data, object.data)) return [];
    return keysOf(caches.of(imagePullJob).byIndex(bySecret, keyOf(object)));
  };
}

function keysOf(jobs: readonly ImagePullJob[]): readonly Key[] {
  return [...new Set(jobs.map(keyOf))];
}

function isRunning(job: ImagePullJob): boolean {
  return !isBeingDeleted(job) && job.status?.completionTime == null;
}

function running(job: ImagePullJob): readonly string[] {
  return isRunning(job) ? ['yes'] : [];
}

/** Index by image name, for changes of all tags, and by name and tag. */
function byImage(job: ImagePullJob): readonly string[] {
  const image = isRunning(job) ? nameAndTagOf(job.spec.image) : undefined;
  return image ? [image.name, taggedKey(image.name, image.tag)] : [];
}

function bySelectedPods(job: ImagePullJob): readonly string[] {
  return isRunning(job) && job.spec.podSelector ? [job.metadata.namespace ?? ''] : [];
}

function bySecret(job: ImagePullJob): readonly string[] {
  const { namespace = '' } = job.metadata;
  return isBeingDeleted(job) ? [] : (job.spec.pullSecrets ?? []).map((name) => `${namespace}/${name}`);
}

/** Image names contain no space. */
function taggedKey(name: string, tag: string): string {
  return `${name} ${tag}`;
}

/** Returns the images, as index keys of `byImage`, whose spec or status in a NodeImage changed. */
function changedImages(before: NodeImage, after: NodeImage): readonly string[] {
  return [
    ...changesIn(before.spec.images, after.spec.images),
    ...changesIn(before.status?.imageStatuses, after.status?.imageStatuses),
  ];
}

type Tagged = { readonly tags: readonly { readonly tag: string }[] };
type Listed = { readonly [name: string]: Tagged } | undefined;

function changesIn(before: Listed = {}, after: Listed = {}): readonly string[] {
  if (isSame(before, after)) return [];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const [former, present] = [before[name], after[name]];
    if (!present) return [name];
    const { tags, ...rest } = present;
    const { tags: formerTags = [], ...formerRest } = former ?? {};
    return former && !isSame(rest, formerRest)
      ? [name]
      : changedTags(formerTags, tags).map((tag) => taggedKey(name, tag));
  });
}

/** Returns the tags that changed, in any order. */
function changedTags(before: Tagged['tags'], after: Tagged['tags']): readonly string[] {
  const all = new Set([...before, ...after].map(({ tag }) => tag));
  const find = (tags: Tagged['tags'], tag: string) => tags.find((each) => each.tag === tag);
  return [...all].filter((tag) => !isSame(find(before, tag), find(after, tag)));
}
