import { conflict } from '@kruise/machinery/status';
import type { Draft } from '@kruise/schema/draft';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { type Body, decodeBody } from './body.ts';
import { admitAndStore } from './create.ts';
import { checkName, dropRepeatedOwners } from './metadata.ts';
import { type Part, tracker } from './tracking.ts';
import { type Updated, update } from './update.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

/** Replaces an object, or the part that a subresource covers. */
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
    checkName(context, resource, draft);
    dropRepeatedOwners(context, draft, false);
    return draft;
  };
  const track = tracker(context, resource, options, part);
  // The body is decoded once before any read, so that an invalid body is rejected whatever is stored.
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

/** Checks the uid: a PUT with a uid must not replace another object of the same name. */
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
  // In a dry run Kubernetes' message has the key without the storage prefix.
  const key = dryRun ? whole.replace('/registry/', '/') : whole;
  throw conflict(
    kind,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored}`,
  );
}
