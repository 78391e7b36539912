import { trackUpdate } from '@kruise/machinery/server-side-apply/field-manager';
import { managerOf } from '@kruise/machinery/server-side-apply/managed-fields';
import type { TrackedKind } from '@kruise/machinery/server-side-apply/updater';
import type { Draft } from '@kruise/schema/draft';
import type { RequestContext } from '../context.ts';
import type { KubeObject } from '../object.ts';
import type { Resource, Strategy } from '../resource.ts';
import type { WriteOptions } from './write-options.ts';

/** The part of an object a request writes: the object itself, or a subresource with rules of its own. */
export type Part = { readonly name: string; readonly strategy: Strategy };

/** A kind as the fields it lets be written through a part of it are tracked. */
export function trackedKind({ tracked }: Resource, { strategy }: Part): TrackedKind {
  const { resetFields } = strategy;
  return resetFields === undefined ? tracked : { ...tracked, resetFields: { [tracked.apiVersion]: resetFields } };
}

/** Records who wrote which fields. */
export function tracker(
  context: RequestContext,
  resource: Resource,
  { fieldManager }: WriteOptions,
  part: Part,
): (live: KubeObject | undefined, draft: Draft<KubeObject>) => Draft<KubeObject> {
  const kind = trackedKind(resource, part);
  const manager = managerOf({ fieldManager, userAgent: context.userAgent });
  return (live, draft) =>
    trackUpdate(kind, {
      live,
      updated: draft as KubeObject,
      manager,
      subresource: part.name,
      now: context.clock.now(),
    }) as Draft<KubeObject>;
}
