import type { ImageTagSpec, ImageTagStatus, NodeImage } from '@kruise/api/kruise/nodeimage';

/** Returns the reported status of a tag at its current version; the status of another version is stale. */
export function statusOfTag({ status }: NodeImage, name: string, tag: ImageTagSpec): ImageTagStatus | undefined {
  const reported = status?.imageStatuses?.[name]?.tags.find((each) => each.tag === tag.tag);
  return reported && (reported.version ?? 0) === (tag.version ?? 0) ? reported : undefined;
}
