import { type DaemonSet, type DaemonSetV1alpha1, daemonSet, daemonSetV1alpha1 } from '@kruise/api/kruise/daemonset';
import { mutate, type Webhook } from '@kruise/client/webhook';
import { handler, refuseFaults, unsupportedVersion, versionOf, type WebhookContext } from '../../webhooks/context.ts';
import { typed } from '../../webhooks/typed.ts';
import { defaultDaemonSet } from './default.ts';
import { validateDaemonSet, validateDaemonSetUpdate } from './validate.ts';

type AnySet = DaemonSet | DaemonSetV1alpha1;

export function daemonSetDefaulting(_context: WebhookContext): Webhook {
  return handler<AnySet>((request) => {
    const version = versionOf(request);
    if (version !== 'v1beta1' && version !== 'v1alpha1') return unsupportedVersion(request);
    // Create and update requests always have an object.
    return mutate(defaultDaemonSet(kinds[version], request.object!));
  });
}

export function daemonSetValidating({ settings: { gates } }: WebhookContext): Webhook {
  return handler<AnySet>((request) => {
    const version = versionOf(request);
    if (version !== 'v1beta1' && version !== 'v1alpha1') return unsupportedVersion(request);
    const rules = { version, gates } as const;
    const set = typed(kinds[version], request.object);
    // OpenKruise answers an invalid new DaemonSet with status 500, and clients rely on it.
    if (!request.oldObject) return refuseFaults(validateDaemonSet(set, rules), 500);
    return refuseFaults(validateDaemonSetUpdate(set, typed(kinds[version], request.oldObject), rules));
  });
}

const kinds = { v1beta1: daemonSet, v1alpha1: daemonSetV1alpha1 };
