import { nameAndTagOf } from '@kruise/api/core/image-reference';
import type { Image } from '@kruise/node/cri/messages';

/** The image of a node that has this name and tag, or digest, in whatever way the runtime writes it. */
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

/** What a runtime is asked for. OpenKruise joins digests with a colon as well, which no runtime understands. */
export function referenceTo({ name, tag }: { readonly name: string; readonly tag: string }): string {
  return tag.includes(':') ? `${name}@${tag}` : `${name}:${tag}`;
}
