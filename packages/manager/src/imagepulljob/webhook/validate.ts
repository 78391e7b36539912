import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import { parallelismFault } from '../../webhooks/parallelism.validate.ts';
import { completionFault, imageFault, nodesFault } from './image-pull.validate.ts';

/** Returns the first error of an ImagePullJob. */
export function imagePullJobFault({ spec }: ImagePullJob): string | undefined {
  const { image, parallelism = 0, completionPolicy, pullPolicy } = spec;
  const nodes = nodesFault(spec);
  if (nodes) return nodes;
  if (image === '') return 'image can not be empty';
  const name = imageFault(image);
  if (name) return name;
  const fault = parallelismFault(parallelism);
  if (fault) return `parallelism ${fault}`;
  const { type, activeDeadlineSeconds: deadline = Number.POSITIVE_INFINITY } = completionPolicy;
  if (type === 'Always' && deadline < (pullPolicy?.timeoutSeconds ?? 600)) {
    return 'completionPolicy.activeDeadlineSeconds must be greater than pullPolicy.timeoutSeconds(default 600)';
  }
  return completionFault(completionPolicy);
}
