import { conflict } from '@kruise/machinery/status';
import type { Draft } from '@kruise/schema/draft';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { type Body, decodeBody } from './body.ts';
import { admitAndStore } from './create.ts';
import { checkNamed, dropRepeatedOwners } from './metadata.ts';
import { type Part, tracker } from './tracking.ts';
import { type Updated, update } from './update.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

/** Replaces an object, or the part of it that a subresource stands for. */
export async function put(
  core: Core,
  context: RequestContext,
  resource: Resource,
  body: Body,
  part: Part = { name: '', strategy: resource.strategy },
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
      checkIdentity(resource, draft, live, options);
      return track.changed(live, draft);
    },
    ...(strategy.createOnUpdate && part.name === ''
      ? { create: () => admitAndStore(core, context, resource, options, track.created(next ?? decode())) }
      : {}),
  });
}

/** Whoever puts an object with a uid means that one, not another that has its name now. */
function checkIdentity(
  { kind, storage }: Resource,
  draft: Draft<KubeObject>,
  live: KubeObject,
  { dryRun }: WriteOptions,
): void {
  const { uid } = draft.metadata;
  const { uid: stored, name = '', namespace } = live.metadata;
  if (!uid || uid === stored) return;
  const whole = storage.keyOf(kind.scope === 'Namespaced' ? namespace : undefined, name);
  // Where nothing is stored, the key is not yet that of the store.
  const key = dryRun ? whole.replace('/registry/', '/') : whole;
  throw conflict(
    kind,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored}`,
  );
}
