import type { ImageListPullJob } from '@kruise/api/kruise/imagelistpulljob';
import { completionFault, imageFault, nodesFault } from '../image-pull.validate.ts';
import { parallelismFault } from '../parallelism.validate.ts';

const maxImages = 255;

/** The first thing that is wrong with an ImageListPullJob (images.md §4.3). */
export function imageListPullJobFault({ spec }: ImageListPullJob): string | undefined {
  const { images, parallelism = 0, completionPolicy } = spec;
  const nodes = nodesFault(spec);
  if (nodes) return nodes;
  if (images.length === 0) return 'image can not be empty';
  if (new Set(images).size < images.length) return 'images cannot have duplicate values';
  if (images.length > maxImages) return `the maximum number of images cannot > ${maxImages}`;
  const [name] = images.flatMap((image) => imageFault(image) ?? []);
  if (name) return name;
  const fault = parallelismFault(parallelism);
  return fault ? `parallelism ${fault}` : completionFault(completionPolicy);
}
