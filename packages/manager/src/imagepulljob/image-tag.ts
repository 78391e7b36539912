import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import type { ImageSpec, ImageTagSpec, NodeImage, PullSecret } from '@kruise/api/kruise/nodeimage';
import { compareStrings } from '@kruise/values/go-syntax';

/** Image name and tag as in a NodeImage. */
export type ImageTag = { readonly name: string; readonly tag: string };

export function tagOf({ tags }: ImageSpec, { tag }: ImageTag): ImageTagSpec | undefined {
  return tags.find((each) => each.tag === tag);
}

/** Reports whether the job is an owner of the tag, perhaps among others. */
export function isWantedBy({ ownerReferences = [] }: ImageTagSpec, job: ImagePullJob): boolean {
  return ownerReferences.some(({ uid }) => uid === job.metadata.uid);
}

/** Returns the secrets that the image spec lacks. */
export function missingSecrets({ pullSecrets = [] }: ImageSpec, secrets: readonly PullSecret[]): readonly PullSecret[] {
  const isSame = (a: PullSecret, b: PullSecret) => a.namespace === b.namespace && a.name === b.name;
  return secrets.filter((secret) => !pullSecrets.some((present) => isSame(present, secret)));
}

export function compareNames(a: NodeImage, b: NodeImage): number {
  return compareStrings(a.metadata.name ?? '', b.metadata.name ?? '');
}
