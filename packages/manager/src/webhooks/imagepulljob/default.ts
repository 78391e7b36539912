import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import { imagePullJobFinalizer } from '@kruise/api/kruise/well-known';
import { withPullDefaults } from '../image-pull.default.ts';

/** What an ImagePullJob is taken to mean where it says nothing (images.md §3.2). */
export function defaultImagePullJob(job: ImagePullJob): ImagePullJob {
  const spec = withPullDefaults(job.spec);
  return { ...job, spec: { ...spec, imagePullPolicy: spec.imagePullPolicy || 'IfNotPresent' } };
}

/** Keeps a new job until the Secrets that were copied for it are gone. Jobs of v1beta1 get this from the controller. */
export function holdImagePullJob(job: ImagePullJob): ImagePullJob {
  const { finalizers = [] } = job.metadata;
  if (finalizers.includes(imagePullJobFinalizer)) return job;
  return { ...job, metadata: { ...job.metadata, finalizers: [...finalizers, imagePullJobFinalizer] } };
}
