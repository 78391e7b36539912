import { configMap } from '@kruise/api/core/configmap';
import { secret } from '@kruise/api/core/secret';
import {
  type ResourceDistribution,
  type ResourceDistributionV1alpha1,
  resourceDistribution,
  resourceDistributionV1alpha1,
} from '@kruise/api/kruise/resourcedistribution';
import type { Webhook } from '@kruise/client/webhook';
import { isAlreadyExists, isBadRequest, isForbidden, isInvalid } from '@kruise/machinery/status';
import { type Cause, forbidden, invalid } from '@kruise/schema/field-error';
import {
  handler,
  refuse,
  refuseFaults,
  unsupportedVersion,
  versionOf,
  type WebhookContext,
} from '../../webhooks/context.ts';
import { inStoredVersion } from '../../webhooks/stored-version.ts';
import { faultOfKind, validateChange, validateDistributionMeta, validateTargets } from './validate.ts';

type AnyDistribution = ResourceDistribution | ResourceDistributionV1alpha1;

export function resourceDistributionValidating(context: WebhookContext): Webhook {
  return handler<AnyDistribution>(async (request) => {
    if (!context.settings.gates.ResourceDistributionGate) {
      return refuse(403, 'feature-gate ResourceDistributionGate is not enabled');
    }
    const version = versionOf(request);
    if (version !== 'v1alpha1' && version !== 'v1beta1') return unsupportedVersion(request);
    const object = stored(request.object);
    const old = request.oldObject && stored(request.oldObject);
    const kindFault = faultOfKind(object);
    return refuseFaults([
      ...validateDistributionMeta(object),
      ...(kindFault ? [kindFault] : [...(old ? validateChange(object, old) : []), ...(await tryOut(context, object))]),
      ...validateTargets(object.spec.targets),
    ]);
  });
}

function stored(object: unknown): ResourceDistribution {
  return inStoredVersion(resourceDistribution, resourceDistributionV1alpha1, object);
}

/** Sends a dry-run creation of the copy in the manager's own namespace, and returns the server's error. */
async function tryOut({ client, settings }: WebhookContext, { spec }: ResourceDistribution): Promise<readonly Cause[]> {
  const { resource } = spec;
  const copy = { ...resource, metadata: { ...resource.metadata, namespace: settings.namespace } };
  try {
    await client.create(resource.kind === 'Secret' ? secret : configMap, copy, { dryRun: true });
    return [];
  } catch (error) {
    const { message } = error as Error;
    if (isAlreadyExists(error)) return [];
    if (isInvalid(error) || isBadRequest(error)) {
      return [invalid('spec.resource', null, `spec.resource is invalid: ${message}`)];
    }
    if (isForbidden(error)) return [forbidden('spec.resource', `spec.resource is forbidden: ${message}`)];
    const why = `Internal error: failed to dry-run validate spec.resource: ${message}`;
    return [{ reason: 'InternalError', message: why, field: 'spec.resource' }];
  }
}
