import {
  type StatefulSet,
  type StatefulSetV1alpha1,
  statefulSet,
  statefulSetV1alpha1,
} from '@kruise/api/kruise/statefulset';
import { storageClass } from '@kruise/api/storage/storageclass';
import { mutate, type Webhook } from '@kruise/client/webhook';
import { protectFromDeletion } from '../../deletion-protection/workloads.ts';
import {
  handler,
  refuse,
  refuseFaults,
  unsupportedVersion,
  versionOf,
  type WebhookContext,
} from '../../webhooks/context.ts';
import { typed } from '../../webhooks/typed.ts';
import { validateClaimTemplatesUpdate } from './claim-templates.validate.ts';
import { defaultStatefulSet } from './default.ts';
import { inPlaceOnlyFault, validateStatefulSet, validateStatefulSetUpdate } from './validate.ts';

type AnySet = StatefulSet | StatefulSetV1alpha1;

const kinds = new Map([
  ['v1beta1', statefulSet],
  ['v1alpha1', statefulSetV1alpha1],
]);

export function statefulSetDefaulting({ settings: { gates } }: WebhookContext): Webhook {
  return handler<AnySet>((request) => {
    const { object, oldObject } = request;
    const kind = kinds.get(versionOf(request));
    // Create and update requests always have an object.
    return kind ? mutate(defaultStatefulSet(kind, object!, oldObject, gates)) : unsupportedVersion(request);
  });
}

/** All fields of v1alpha1 exist unchanged in v1beta1, so the same rules apply. */
export function statefulSetValidating(context: WebhookContext): Webhook {
  return handler<AnySet>((request) => {
    if (!kinds.has(versionOf(request))) return unsupportedVersion(request);
    if (request.operation === 'DELETE') return protectFromDeletion(context, request);
    const set = typed(statefulSet, request.object);
    const { gates } = context.settings;
    if (!request.oldObject) return refuseFaults(validateStatefulSet(set, gates));
    const old = typed(statefulSet, request.oldObject);
    const refusal = refuseFaults([...validateStatefulSet(set, gates), ...validateStatefulSetUpdate(set, old)]);
    if (refusal.denial) return refusal;
    if (gates.StatefulSetAutoResizePVCGate) {
      const classes = context.caches.of(storageClass).list();
      const claims = refuseFaults(validateClaimTemplatesUpdate(set, old, classes));
      if (claims.denial) return claims;
    }
    const fault = inPlaceOnlyFault(set, old);
    return fault ? refuse(422, fault) : refusal;
  });
}
