import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import { imagePullJobFinalizer } from '@kruise/api/kruise/well-known';
import { withPullDefaults } from './image-pull.default.ts';

/** Defaults of ImagePullJobs. */
export function defaultImagePullJob(job: ImagePullJob): ImagePullJob {
  const spec = withPullDefaults(job.spec);
  return { ...job, spec: { ...spec, imagePullPolicy: spec.imagePullPolicy || 'IfNotPresent' } };
}

/**
 * Adds the finalizer that keeps a new job until the Secrets copied for it are deleted. The controller adds it to jobs
 * of v1beta1.
 */
export function holdImagePullJob(job: ImagePullJob): ImagePullJob {
  const { finalizers = [] } = job.metadata;
  if (finalizers.includes(imagePullJobFinalizer)) return job;
  return { ...job, metadata: { ...job.metadata, finalizers: [...finalizers, imagePullJobFinalizer] } };
}
