import type { ImageTagSpec, NodeImage } from '@kruise/api/kruise/nodeimage';

const maxImages = 256;

/** Returns the first error of a NodeImage. */
export function nodeImageFault({ spec: { images = {} } }: NodeImage): string | undefined {
  const entries = Object.entries(images);
  if (entries.length > maxImages) return `spec images length ${entries.length} can not be more than ${maxImages}`;
  for (const [name, { tags }] of entries) {
    if (name === '') return 'image name can not be empty';
    const seen = new Set<string>();
    for (const tag of tags) {
      if (tag.tag === '') return `tag for image ${name} can not be empty`;
      if (seen.has(tag.tag)) return `duplicated tag ${tag.tag} for image ${name}`;
      seen.add(tag.tag);
      const fault = tagFault(tag, `${name}/${tag.tag}`);
      if (fault) return fault;
    }
  }
  return undefined;
}

function tagFault({ createdAt, version = 0, pullPolicy }: ImageTagSpec, name: string): string | undefined {
  if (createdAt === undefined) return `createAt field for ${name} can not be empty`;
  if (version < 0) return `version for ${name} can not be less than 0`;
  if (!pullPolicy) return `pullPolicy field for ${name} must set`;
  if (pullPolicy.ttlSecondsAfterFinished === undefined) {
    return `pullPolicy.ttlSecondsAfterFinished for ${name} must set`;
  }
  return undefined;
}
