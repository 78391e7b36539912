import { trackUpdate } from '@kruise/machinery/server-side-apply/field-manager';
import { managerOf } from '@kruise/machinery/server-side-apply/managed-fields';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Serializer } from '../resource.ts';
import { serializerOf } from '../resources/serializer.ts';
import type { VirtualResource } from '../virtual-resource.ts';

/** Tracks field ownership of an object that is returned but not stored. */
export type Tracking = (context: RequestContext, object: KubeObject, subresource?: string) => KubeObject;

export function trackingOf(kind: Kind, serializer: Serializer): Tracking {
  const apiVersion = apiVersionOf(kind);
  const tracked = {
    apiVersion,
    kind: kind.kind,
    type: mergeTypeOf(kind.root),
    empty: serializer.canonical({ apiVersion, kind: kind.kind, metadata: {} }),
  };
  return (context, object, subresource = '') =>
    trackUpdate(tracked, {
      updated: object,
      manager: managerOf({
        fieldManager: context.query.get('fieldManager') ?? '',
        userAgent: context.userAgent,
      }),
      subresource,
      now: context.clock.now(),
    }) as KubeObject;
}

/** Creates a review resource: the response is computed from the request object. */
export function reviewOf(
  kind: Kind,
  answer: (context: RequestContext, object: KubeObject) => KubeObject | Promise<KubeObject>,
): VirtualResource {
  const serializer = serializerOf(kind, {});
  const track = trackingOf(kind, serializer);
  return {
    kind,
    serializer,
    create: async (context, object) => {
      const request = track(context, withoutSystemFields(kind, object));
      return serializer.canonical(await answer(context, request));
    },
  };
}

/** Removes server-set fields, which reviews do not have. */
function withoutSystemFields({ scope }: Kind, object: KubeObject): KubeObject {
  const { uid: _, selfLink: __, deletionTimestamp: ___, deletionGracePeriodSeconds: ____, ...rest } = object.metadata;
  const { namespace, ...others } = rest;
  const metadata = { ...(scope === 'Namespaced' && namespace !== undefined ? { namespace } : {}), ...others };
  return { ...object, metadata: { ...metadata, creationTimestamp: null } } as unknown as KubeObject;
}
