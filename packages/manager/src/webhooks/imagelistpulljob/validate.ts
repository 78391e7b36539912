import type { ImageListPullJob } from '@kruise/api/kruise/imagelistpulljob';
import { completionFault, imagesFault, nodesFault } from '../image-pull.validate.ts';
import { parallelismFault } from '../parallelism.validate.ts';

/** The first thing that is wrong with an ImageListPullJob (images.md §4.3). */
export function imageListPullJobFault({ spec }: ImageListPullJob): string | undefined {
  const { images, parallelism = 0, completionPolicy } = spec;
  const where = nodesFault(spec) ?? imagesFault(images);
  if (where) return where;
  const fault = parallelismFault(parallelism);
  return fault ? `parallelism ${fault}` : completionFault(completionPolicy);
}
