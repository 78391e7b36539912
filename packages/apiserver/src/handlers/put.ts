import { trackUpdate } from '@kruise/machinery/server-side-apply/managed-fields';
import type { Draft } from '@kruise/schema/draft';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import type { Resource, Strategy } from '../resource.ts';
import { type Body, decodeBody } from './body.ts';
import { admitAndStore } from './create.ts';
import { checkNamed, dropRepeatedOwners } from './metadata.ts';
import { type Updated, update } from './update.ts';
import { managerName, type WriteOptions, writeOptions } from './write-options.ts';

/** Replaces an object, or the part of it that a subresource stands for. */
export async function put(
  core: Core,
  context: RequestContext,
  resource: Resource,
  body: Body,
  part: { readonly name: string; readonly strategy: Strategy } = { name: '', strategy: resource.strategy },
): Promise<Updated> {
  const options = writeOptions(context.query, 'UpdateOptions');
  const { strategy } = part;
  const decode = () => {
    const draft = decodeBody(context, resource, body, options.fieldValidation);
    checkNamed(context, resource, draft);
    dropRepeatedOwners(context, draft, false);
    return draft;
  };
  const track = tracker(context, resource, options, part);
  // Decoded once before anything is read, so that a faulty body is refused whatever is stored.
  let next: Draft<KubeObject> | undefined = decode();
  return update(core, context, resource, {
    subresource: part.name,
    strategy,
    options,
    change(live) {
      const draft = next ?? decode();
      next = undefined;
      return track(live, draft);
    },
    ...(strategy.createOnUpdate && part.name === ''
      ? { create: () => admitAndStore(core, context, resource, options, track(undefined, next ?? decode())) }
      : {}),
  });
}

/** Records who wrote which fields. */
export function tracker(
  context: RequestContext,
  resource: Resource,
  options: WriteOptions,
  part: { readonly name: string; readonly strategy: Strategy },
): (live: KubeObject | undefined, draft: Draft<KubeObject>) => Draft<KubeObject> {
  return (live, draft) =>
    trackUpdate({
      live,
      updated: draft as KubeObject,
      manager: managerName(options, context.userAgent),
      subresource: part.name,
      now: context.clock.now(),
      mergeType: resource.mergeType,
      resetFields: part.strategy.resetFields,
    }) as Draft<KubeObject>;
}
