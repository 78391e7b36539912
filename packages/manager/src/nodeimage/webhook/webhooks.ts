import { type NodeImage, nodeImage, nodeImageV1alpha1 } from '@kruise/api/kruise/nodeimage';
import type { Webhook } from '@kruise/client/webhook';
import {
  defaultingWebhook,
  refuse,
  refuseFault,
  validatingWebhook,
  type WebhookContext,
} from '../../webhooks/context.ts';
import { defaultNodeImage } from './default.ts';
import { nodeImageFault } from './validate.ts';

const versions = { v1beta1: nodeImage, v1alpha1: nodeImageV1alpha1 };

export function nodeImageDefaulting({ now }: WebhookContext): Webhook {
  return defaultingWebhook<NodeImage>(versions, (image) => defaultNodeImage(image, now()));
}

export function nodeImageValidating({ settings: { gates } }: WebhookContext): Webhook {
  return validatingWebhook<NodeImage>(versions, (image) => {
    if (!gates.KruiseDaemon) return refuse(403, 'feature-gate KruiseDaemon is not enabled');
    return refuseFault(nodeImageFault(image), 400);
  });
}
