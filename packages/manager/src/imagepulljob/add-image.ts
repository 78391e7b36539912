import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import type { ImageSpec, ImageTagSpec, NodeImage, PullSecret } from '@kruise/api/kruise/nodeimage';
import { type Action, patch } from '@kruise/client/actions';
import { fnv1a } from '@kruise/machinery/hash';
import type { JsonObject } from '@kruise/machinery/json-value';
import { createMergePatch } from '@kruise/machinery/merge-patch';
import { compareStrings } from '@kruise/values/go-syntax';
import { formatTime, type Instant } from '@kruise/values/time';
import type { Settings } from './decide.ts';
import { type ImageTag, isWantedBy, missingSecrets, tagOf } from './image-tag.ts';

export type ImageRequest = {
  readonly job: ImagePullJob;
  readonly image: ImageTag;
  readonly nodeImage: NodeImage;
  readonly secrets: readonly PullSecret[];
  readonly settings: Settings;
  readonly now: Instant;
};

/** Adds the image of a job to a NodeImage. */
export function addImage(request: ImageRequest): readonly Action[] {
  const { nodeImage, image } = request;
  const changed = specFor(request);
  const before = nodeImage.spec.images?.[image.name];
  if (changed === before) return [];
  // The specs are plain JSON.
  const images = createMergePatch(
    { [image.name]: before } as JsonObject,
    { [image.name]: changed } as unknown as JsonObject,
  );
  // A merge patch replaces whole lists: the resourceVersion ensures that no tag of another writer is lost.
  return [patch(nodeImage, { metadata: { resourceVersion: nodeImage.metadata.resourceVersion }, spec: { images } })];
}

/** Returns the desired image spec of a NodeImage; the same object where nothing changes. */
export function specFor(request: ImageRequest): ImageSpec {
  const { job, image, nodeImage, secrets, now } = request;
  const before: ImageSpec = nodeImage.spec.images?.[image.name] ?? { tags: [] };
  const present = tagOf(before, image);
  const missing = missingSecrets(before, secrets);
  const isWanted = present !== undefined && isWantedBy(present, job);
  if (isWanted && missing.length === 0) return before;
  const tag = isWanted ? present : present ? withOwner(present, job, now) : newTag(request);
  const { sandboxConfig: _former, ...rest } = before;
  const pullSecrets = [...(before.pullSecrets ?? []), ...missing];
  return {
    ...rest,
    ...(pullSecrets.length > 0 ? { pullSecrets } : {}),
    tags: [...before.tags.filter((each) => each !== present), tag].sort((a, b) => compareStrings(a.tag, b.tag)),
    // The last of several jobs determines the sandbox configuration.
    ...(job.spec.sandboxConfig ? { sandboxConfig: job.spec.sandboxConfig } : {}),
  };
}

/** Adds the job as an owner of a tag and pulls the tag again: the job cannot know how old the last pull is. */
function withOwner(tag: ImageTagSpec, job: ImagePullJob, now: Instant): ImageTagSpec {
  return {
    ...tag,
    version: (tag.version ?? 0) + 1,
    ownerReferences: [...(tag.ownerReferences ?? []), referenceTo(job)],
    createdAt: formatTime(now),
    ...policyOf(job),
  };
}

function newTag({ job, image, nodeImage, settings, now }: ImageRequest): ImageTagSpec {
  const reported = nodeImage.status?.imageStatuses?.[image.name]?.tags.find(({ tag }) => tag === image.tag);
  return {
    tag: image.tag,
    ...(reported ? { version: (reported.version ?? 0) + 1 } : {}),
    createdAt: formatTime(now),
    ownerReferences: [referenceTo(job)],
    pullPolicy: pullPolicyFor(job, settings),
    ...policyOf(job),
  };
}

function policyOf({ spec: { imagePullPolicy } }: ImagePullJob): Pick<ImageTagSpec, 'imagePullPolicy'> {
  return imagePullPolicy ? { imagePullPolicy } : {};
}

function referenceTo({ metadata: { namespace = '', name = '', uid = '' } }: ImagePullJob) {
  return { apiVersion: 'apps.kruise.io/v1beta1', kind: 'ImagePullJob', namespace, name, uid };
}

const daySeconds = 86_400;
const shortestDeadlineSeconds = 1800;
const spreadSeconds = { always: 300, never: 1200 };

/**
 * Returns the pull policy of a tag. Tags of jobs that never complete expire about once a day, and are pulled again
 * then.
 */
export function pullPolicyFor(job: ImagePullJob, settings: Settings): NonNullable<ImageTagSpec['pullPolicy']> {
  const { pullPolicy, completionPolicy } = job.spec;
  const { timeoutSeconds = 600, backoffLimit = 3 } = pullPolicy ?? {};
  const attempts = { timeoutSeconds, backoffLimit };
  const { type, ttlSecondsAfterFinished: ttl, activeDeadlineSeconds: deadline } = completionPolicy;
  if (type === 'Never') {
    return {
      ...attempts,
      ttlSecondsAfterFinished: daySeconds - spreadSeconds.never / 2 + share(job, spreadSeconds.never),
      activeDeadlineSeconds: Math.max(shortestDeadlineSeconds, timeoutSeconds),
    };
  }
  const base = ttl ?? deadline ?? timeoutSeconds * backoffLimit;
  return {
    ...attempts,
    ttlSecondsAfterFinished: base + settings.alwaysNodeImageTtlSeconds + share(job, spreadSeconds.always),
    ...(deadline === undefined ? {} : { activeDeadlineSeconds: deadline }),
  };
}

/**
 * Returns a number below a limit that differs between jobs, so that tags that were written together do not expire
 * together.
 */
function share({ metadata: { uid = '' } }: ImagePullJob, limit: number): number {
  return fnv1a(new TextEncoder().encode(uid)) % limit;
}
