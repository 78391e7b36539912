import type { NodeImage } from '@kruise/api/kruise/nodeimage';
import { compareStrings } from '@kruise/values/go-syntax';
import { formatTime, type Instant } from '@kruise/values/time';
import { withAttemptDefaults } from '../../imagepulljob/webhook/image-pull.default.ts';

/** Defaults of NodeImages. Sorts their tags. */
export function defaultNodeImage(nodeImage: NodeImage, now: Instant): NodeImage {
  const { spec, status } = nodeImage;
  const images = mapValues(spec.images, (image) => ({
    ...image,
    tags: image.tags.toSorted(byTag).map((tag) => ({
      ...tag,
      createdAt: tag.createdAt ?? formatTime(now),
      pullPolicy: withAttemptDefaults(tag.pullPolicy),
    })),
  }));
  const imageStatuses = mapValues(status?.imageStatuses, ({ tags, ...image }) => ({
    ...image,
    tags: tags.toSorted(byTag),
  }));
  return {
    ...nodeImage,
    spec: { ...spec, ...(images ? { images } : {}) },
    ...(status && imageStatuses ? { status: { ...status, imageStatuses } } : {}),
  };
}

function byTag(a: { readonly tag: string }, b: { readonly tag: string }): number {
  return compareStrings(a.tag, b.tag);
}

function mapValues<T>(map: { readonly [key: string]: T } | undefined, change: (value: T) => T) {
  return map && Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}
