import type { ImageListPullJob } from '@kruise/api/kruise/imagelistpulljob';
import { completionFault, imagesFault, nodesFault } from '../../imagepulljob/webhook/image-pull.validate.ts';
import { parallelismFault } from '../../webhooks/parallelism.validate.ts';

/** Returns the first error of an ImageListPullJob. */
export function imageListPullJobFault({ spec }: ImageListPullJob): string | undefined {
  const { images, parallelism = 0, completionPolicy } = spec;
  const where = nodesFault(spec) ?? imagesFault(images);
  if (where) return where;
  const fault = parallelismFault(parallelism);
  return fault ? `parallelism ${fault}` : completionFault(completionPolicy);
}
