import { type ImageListPullJob, imageListPullJob, imageListPullJobV1alpha1 } from '@kruise/api/kruise/imagelistpulljob';
import type { Webhook } from '@kruise/client/webhook';
import { withPullDefaults } from '../../imagepulljob/webhook/image-pull.default.ts';
import { pullGateFault } from '../../imagepulljob/webhook/image-pull.validate.ts';
import {
  defaultingWebhook,
  refuse,
  refuseFault,
  validatingWebhook,
  type WebhookContext,
} from '../../webhooks/context.ts';
import { imageListPullJobFault } from './validate.ts';

const versions = { v1beta1: imageListPullJob, v1alpha1: imageListPullJobV1alpha1 };

export function imageListPullJobDefaulting(): Webhook {
  return defaultingWebhook<ImageListPullJob>(versions, (job) => ({ ...job, spec: withPullDefaults(job.spec) }));
}

export function imageListPullJobValidating({ settings: { gates } }: WebhookContext): Webhook {
  return validatingWebhook<ImageListPullJob>(versions, (job) => {
    const closed = pullGateFault(gates);
    return closed ? refuse(403, closed) : refuseFault(imageListPullJobFault(job), 400);
  });
}
