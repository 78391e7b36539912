import { type ImagePullJob, imagePullJob, imagePullJobV1alpha1 } from '@kruise/api/kruise/imagepulljob';
import { deny, type Webhook } from '@kruise/client/webhook';
import { isSame } from '@kruise/machinery/json-value';
import {
  defaultingWebhook,
  refuse,
  refuseFault,
  validatingWebhook,
  type WebhookContext,
} from '../../webhooks/context.ts';
import { defaultImagePullJob, holdImagePullJob } from './default.ts';
import { pullGateFault } from './image-pull.validate.ts';
import { imagePullJobFault } from './validate.ts';

const versions = { v1beta1: imagePullJob, v1alpha1: imagePullJobV1alpha1 };

export function imagePullJobDefaulting(): Webhook {
  return defaultingWebhook<ImagePullJob>(versions, (job, _old, { operation, resource }) => {
    const filled = defaultImagePullJob(job);
    return operation === 'CREATE' && resource.version === 'v1alpha1' ? holdImagePullJob(filled) : filled;
  });
}

export function imagePullJobValidating({ settings: { gates } }: WebhookContext): Webhook {
  return validatingWebhook<ImagePullJob>(versions, (job, old) => {
    const closed = pullGateFault(gates);
    if (closed) return refuse(403, closed);
    if (old && !isSame(job.spec.pullSecrets, old.spec.pullSecrets)) return deny('spec.pullSecrets is immutable');
    return refuseFault(imagePullJobFault(job), 400);
  });
}
