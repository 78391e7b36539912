import type { ImageTagStatus, NodeImage, NodeImageStatus } from '@kruise/api/kruise/nodeimage';
import { compareStrings } from '@kruise/values/go-syntax';

/** Derives the status of a NodeImage from the status of its tags. */
export function statusFrom(
  { spec }: NodeImage,
  statusesOf: (name: string) => Iterable<ImageTagStatus>,
): NodeImageStatus {
  const images = Object.entries(spec.images ?? {});
  const known = images
    .map(([name]) => [name, { tags: [...statusesOf(name)].sort((a, b) => compareStrings(a.tag, b.tag)) }] as const)
    .filter(([, { tags }]) => tags.length > 0);
  const all = known.flatMap(([, { tags }]) => tags);
  const count = (phase: ImageTagStatus['phase']) => all.filter((each) => each.phase === phase).length;
  return {
    desired: images.reduce((sum, [, { tags }]) => sum + tags.length, 0),
    succeeded: count('Succeeded'),
    failed: count('Failed'),
    pulling: count('Pulling'),
    waiting: count('Waiting'),
    ...(known.length > 0 ? { imageStatuses: Object.fromEntries(known) } : {}),
  };
}
