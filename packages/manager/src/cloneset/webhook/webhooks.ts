import { pod } from '@kruise/api/core/pod';
import { type CloneSet, type CloneSetV1alpha1, cloneSet, cloneSetV1alpha1 } from '@kruise/api/kruise/cloneset';
import { type AdmissionRequestFor, mutate, type Webhook } from '@kruise/client/webhook';
import { protectFromDeletion } from '../../deletion-protection/workloads.ts';
import { handler, refuseFaults, unsupportedVersion, versionOf, type WebhookContext } from '../../webhooks/context.ts';
import { typed } from '../../webhooks/typed.ts';
import { defaultCloneSet, defaultCloneSetV1alpha1 } from './default.ts';
import { validateCloneSet, validateCloneSetV1alpha1 } from './validate.ts';

type AnyCloneSet = CloneSet | CloneSetV1alpha1;

export function cloneSetDefaulting({ settings: { gates } }: WebhookContext): Webhook {
  return handler<AnyCloneSet>((request) => {
    const { object, oldObject } = request;
    switch (versionOf(request)) {
      // The objects of a request have its version.
      case 'v1beta1':
        return mutate(defaultCloneSet(object as CloneSet, oldObject as CloneSet | undefined, gates));
      case 'v1alpha1':
        return mutate(
          defaultCloneSetV1alpha1(object as CloneSetV1alpha1, oldObject as CloneSetV1alpha1 | undefined, gates),
        );
      default:
        return unsupportedVersion(request);
    }
  });
}

export function cloneSetValidating(context: WebhookContext): Webhook {
  return handler<AnyCloneSet>((request) => {
    const version = versionOf(request);
    if (version !== 'v1beta1' && version !== 'v1alpha1') return unsupportedVersion(request);
    if (request.operation === 'DELETE') return protectFromDeletion(context, request);
    const { gates } = context.settings;
    if (version === 'v1beta1') {
      const [object, old] = both(cloneSet, request);
      return refuseFaults(validateCloneSet(object, gates, old));
    }
    const [object, old] = both(cloneSetV1alpha1, request);
    const { namespace = '' } = request;
    const findPod = (name: string) => context.caches.of(pod).get({ namespace, name });
    return refuseFaults(validateCloneSetV1alpha1(object, gates, findPod, old));
  });
}

/** Returns the new object, and the old one if there is one. */
function both<K extends typeof cloneSet | typeof cloneSetV1alpha1>(kind: K, request: AdmissionRequestFor<AnyCloneSet>) {
  const { object, oldObject } = request;
  return [typed(kind, object), oldObject && typed(kind, oldObject)] as const;
}
