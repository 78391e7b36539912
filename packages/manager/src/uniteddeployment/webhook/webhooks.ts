import { unitedDeployment, unitedDeploymentV1alpha1 } from '@kruise/api/kruise/uniteddeployment';
import type { Webhook } from '@kruise/client/webhook';
import { protectFromDeletion } from '../../deletion-protection/workloads.ts';
import {
  defaultingWebhook,
  handler,
  refuseFaults,
  unsupportedVersion,
  versionOf,
  type WebhookContext,
} from '../../webhooks/context.ts';
import { typed } from '../../webhooks/typed.ts';
import { type AnyUnitedDeployment, defaultUnitedDeployment } from './default.ts';
import { validateUnitedDeployment, validateUnitedDeploymentUpdate } from './validate.ts';

const versions = { v1beta1: unitedDeployment, v1alpha1: unitedDeploymentV1alpha1 };

export function unitedDeploymentDefaulting({ settings: { gates } }: WebhookContext): Webhook {
  return defaultingWebhook<AnyUnitedDeployment>(versions, (given, old) => defaultUnitedDeployment(given, old, gates));
}

/** The versions differ only in their status, so the same rules apply to both. */
export function unitedDeploymentValidating(context: WebhookContext): Webhook {
  const { gates } = context.settings;
  return handler<AnyUnitedDeployment>((request) => {
    if (!(versionOf(request) in versions)) return unsupportedVersion(request);
    if (request.operation === 'DELETE') return protectFromDeletion(context, request);
    const object = typed(unitedDeployment, request.object);
    const old = request.oldObject && typed(unitedDeployment, request.oldObject);
    const faults = [...validateUnitedDeployment(object, gates)];
    return refuseFaults(old ? [...faults, ...validateUnitedDeploymentUpdate(object, old)] : faults);
  });
}
