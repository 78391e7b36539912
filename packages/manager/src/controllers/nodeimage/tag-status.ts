import type { ImageTagSpec, ImageTagStatus, NodeImage } from '@kruise/api/kruise/nodeimage';

/** What a node says of a tag, in the version that is wanted now; what it said of others is out of date. */
export function statusOfTag({ status }: NodeImage, name: string, tag: ImageTagSpec): ImageTagStatus | undefined {
  const said = status?.imageStatuses?.[name]?.tags.find((each) => each.tag === tag.tag);
  return said && (said.version ?? 0) === (tag.version ?? 0) ? said : undefined;
}
