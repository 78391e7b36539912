import { type AdvancedCronJob, advancedCronJob, advancedCronJobV1alpha1 } from '@kruise/api/kruise/advancedcronjob';
import type { Webhook } from '@kruise/client/webhook';
import { defaultingWebhook, refuseFaults, validatingWebhook, type WebhookContext } from '../../webhooks/context.ts';
import { defaultAdvancedCronJob } from './default.ts';
import { validateAdvancedCronJob } from './validate.ts';

const versions = { v1beta1: advancedCronJob, v1alpha1: advancedCronJobV1alpha1 };

export function advancedCronJobDefaulting({ settings: { gates } }: WebhookContext): Webhook {
  return defaultingWebhook<AdvancedCronJob>(versions, (job, old) => defaultAdvancedCronJob(job, old, gates));
}

export function advancedCronJobValidating(): Webhook {
  return validatingWebhook<AdvancedCronJob>(versions, (job, old) => refuseFaults(validateAdvancedCronJob(job, old)));
}
