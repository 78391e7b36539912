import { nameAndTagOf } from '@kruise/api/core/image-reference';
import type { Image } from '@kruise/node/cri/messages';

/** Finds the image of a node with this name and tag or digest, in any notation of the runtime. */
export function findImage(
  images: readonly Image[],
  wanted: { readonly name: string; readonly tag: string },
): Image | undefined {
  return images.find(({ repoTags, repoDigests }) =>
    [...repoTags, ...repoDigests].some((reference) => {
      const found = nameAndTagOf(reference);
      return found?.name === wanted.name && found.tag === wanted.tag;
    }),
  );
}

/**
 * Returns the image reference for the runtime. OpenKruise joins digests with a colon too, which no runtime understands.
 */
export function referenceTo({ name, tag }: { readonly name: string; readonly tag: string }): string {
  return tag.includes(':') ? `${name}@${tag}` : `${name}:${tag}`;
}
