import { type BroadcastJob, broadcastJob, broadcastJobV1alpha1 } from '@kruise/api/kruise/broadcastjob';
import type { Webhook } from '@kruise/client/webhook';
import { defaultingWebhook, refuseFaults, validatingWebhook, type WebhookContext } from '../../webhooks/context.ts';
import { defaultBroadcastJob } from './default.ts';
import { validateBroadcastJob } from './validate.ts';

const versions = { v1beta1: broadcastJob, v1alpha1: broadcastJobV1alpha1 };

export function broadcastJobDefaulting({ settings: { gates } }: WebhookContext): Webhook {
  return defaultingWebhook<BroadcastJob>(versions, (job, old) => defaultBroadcastJob(job, old, gates));
}

export function broadcastJobValidating({ settings: { gates } }: WebhookContext): Webhook {
  // OpenKruise answers invalid jobs with status 500, and clients rely on it.
  return validatingWebhook<BroadcastJob>(versions, (job) => refuseFaults(validateBroadcastJob(job, gates), 500));
}
