import { validateObjectMeta, validateObjectMetaUpdate } from '@kruise/api/meta/object-meta.validate';
import { isSame } from '@kruise/machinery/json-value';
import { keepTimes } from '@kruise/machinery/server-side-apply/managed-fields';
import { conflict, invalid, notFound, objectModifiedMessage, unclassified } from '@kruise/machinery/status';
import type { Known } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import { invalid as invalidField } from '@kruise/schema/field-error';
import { quote } from '@kruise/values/go-syntax';
import type { Attributes } from '../admission/admission.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import { type Cached, type KubeObject, whole, withoutRevision } from '../object.ts';
import { type Found, kindInMessages, type Resource, type Strategy } from '../resource.ts';
import { admissionOptions } from './admit.ts';
import { rejectInvalid, throughStorage } from './create.ts';
import { dropRepeatedOwners, keepSystemFields } from './metadata.ts';
import { inVersion, keyOf } from './read.ts';
import type { WriteOptions } from './write-options.ts';

/** Update of an object under one strategy. */
export type Update = {
  readonly subresource: string;
  readonly strategy: Strategy;
  readonly options: WriteOptions;
  /** Returns the desired object, made from the live one, complete with managedFields. Called again after a conflict. */
  readonly change: (live: KubeObject) => Draft<KubeObject> | Promise<Draft<KubeObject>>;
  /** Called if the object does not exist; if absent, the update fails with NotFound. */
  readonly create?: () => Promise<Found>;
};

export type Updated = Found & {
  /** Reports whether the object was created. */
  readonly created: boolean;
};

/** Updates an object: read, change, admit, validate and write; retried on conflict. */
export async function update(
  core: Core,
  context: RequestContext,
  resource: Resource,
  request: Update,
): Promise<Updated> {
  const { namespace, name } = context.info;
  const key = keyOf(resource, namespace, name);
  await core.feed.waitForCurrent();
  let seen = resource.storage.cache.get(key);
  for (;;) {
    context.signal.throwIfAborted();
    if (!seen) {
      if (!request.create) throw notFound(resource.kind, name);
      return { ...(await request.create()), created: true };
    }
    const outcome = await attempt(core, context, resource, request, seen);
    if (outcome.done) return outcome.updated;
    seen = outcome.current;
  }
}

type Outcome =
  | { readonly done: true; readonly updated: Updated }
  | { readonly done: false; readonly current: Cached | undefined };

async function attempt(
  core: Core,
  context: RequestContext,
  resource: Resource,
  request: Update,
  seen: Cached,
): Promise<Outcome> {
  const { strategy, options, subresource } = request;
  const live = whole({ object: await inVersion(resource, seen), managedFields: seen.managedFields });
  const draft = await request.change(live);
  const attributes: Attributes = {
    context,
    operation: 'UPDATE',
    resource,
    kind: resource.kind,
    serializer: resource.serializer,
    subresource,
    namespace: context.info.namespace,
    name: context.info.name,
    object: draft as KubeObject,
    oldObject: live,
    options: admissionOptions('UpdateOptions', context, options),
    dryRun: options.dryRun,
  };
  const admitted = (await core.admission.mutate(attributes)) as Draft<KubeObject>;
  dropRepeatedOwners(context, admitted, true);
  checkVersion(resource, strategy, admitted, seen);

  keepSystemFields(admitted, live);
  strategy.prepareForUpdate(admitted, live, context);
  admitted.metadata.resourceVersion = String(seen.revision);
  const reservation = await strategy.reserve?.(admitted, live, context);
  try {
    const object = resource.serializer.canonical(admitted as KubeObject, keptParts(live, subresource));
    rejectInvalid(kindInMessages(resource), object, [
      ...validateObjectMeta(object.metadata, { namespaced: resource.kind.scope === 'Namespaced' }),
      ...validateObjectMetaUpdate(object.metadata, live.metadata),
      ...strategy.validateUpdate(object, live, context),
    ]);
    if (strategy.checkReferences)
      rejectInvalid(kindInMessages(resource), object, await strategy.checkReferences(object, live, context));
    for (const warning of strategy.warnings?.(object, live) ?? []) context.warnings.add(warning);
    await core.admission.validate({ ...attributes, object });
    const outcome = await write(
      context,
      resource,
      request,
      seen,
      live,
      keepTimes({ live, updated: object }) as KubeObject,
    );
    if (outcome.done && !options.dryRun) await reservation?.commit();
    else await reservation?.rollback();
    return outcome;
  } catch (error) {
    await reservation?.rollback();
    throw error;
  }
}

/**
 * Returns the parts of an object that a request does not change, and that a draft may share: a write to the object
 * keeps its status, and a write to the status keeps everything else. Most of a Pod is not processed again when its
 * status changes.
 */
export function keptParts({ metadata, spec, status }: KubeObject, subresource: string): Known {
  return new Set([metadata.managedFields, subresource === 'status' ? spec : status]);
}

/** Checks the resourceVersion precondition of an update. */
function checkVersion(resource: Resource, strategy: Strategy, draft: Draft<KubeObject>, seen: Cached): void {
  const version = draft.metadata.resourceVersion ?? '';
  const { kind } = resource;
  const name = seen.object.metadata.name ?? '';
  if (version === '' || version === '0') {
    if (strategy.unconditionalUpdate) return;
    const cause = invalidField('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalid({ group: kind.group, kind: kind.plural }, name, [
      { ...cause, message: 'Invalid value: 0x0: must be specified for an update' },
    ]);
  }
  if (version === String(seen.revision)) return;
  if (!/^[0-9]+$/.test(version)) throw unclassified(`strconv.ParseUint: parsing ${quote(version)}: invalid syntax`);
  throw conflict(kind, name, objectModifiedMessage);
}

async function write(
  context: RequestContext,
  resource: Resource,
  { strategy, options }: Update,
  seen: Cached,
  live: KubeObject,
  object: KubeObject,
): Promise<Outcome> {
  const done = (cached: Cached, result: KubeObject): Outcome => ({
    done: true,
    updated: { cached, object: result, created: false },
  });
  if (isSame(withoutRevision(object), withoutRevision(live))) return done(seen, await inVersion(resource, seen));
  if (options.dryRun) {
    const shown = await throughStorage(resource.conversion, object);
    return done({ ...seen, object: shown, managedFields: undefined }, shown);
  }
  if (isFinished(object)) {
    const removed = await resource.storage.remove(seen);
    if (!removed.ok) return { done: false, current: removed.current };
    await resource.strategy.released?.(object, context);
    return done({ ...seen, object, managedFields: undefined }, object);
  }
  const stored = await resource.conversion.toStorage(object);
  const written = await resource.storage.replace(seen, stored, strategy.ttlSeconds);
  if (!written.ok) return { done: false, current: written.current };
  const { cached } = written;
  return done(cached, stored === object ? cached.object : await inVersion(resource, cached));
}

/** Reports whether a terminating object has no finalizers left. */
export function isFinished({ metadata, kind, spec }: KubeObject): boolean {
  if (!metadata.deletionTimestamp || metadata.deletionGracePeriodSeconds) return false;
  if (metadata.finalizers && metadata.finalizers.length > 0) return false;
  // A Namespace has finalizers in its spec, which represent its content.
  if (kind !== 'Namespace') return true;
  const { finalizers } = (spec ?? {}) as { readonly finalizers?: readonly string[] };
  return !finalizers || finalizers.length === 0;
}
