import { conflict, invalid, isNotFound, notFound, success } from '@kruise/machinery/status';
import { type Cause, invalid as invalidField, notSupported } from '@kruise/schema/field-error';
import { mapConcurrently } from '@kruise/values/map-concurrently';
import type { Attributes } from '../admission/admission.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import { type Cached, type KubeObject, whole } from '../object.ts';
import { isTrue } from '../request-info.ts';
import { kindInMessages, type Resource } from '../resource.ts';
import { type DeleteOptions, planDeletion } from './deletion.ts';
import { type ListOptions, parseInteger } from './list-options.ts';
import { inVersion, keyOf, type Listed, readMany } from './read.ts';
import { dryRunFaults } from './write-options.ts';

/** Response to a DELETE. */
export type Deleted = { readonly code: 200 | 202; readonly object: KubeObject | ReturnType<typeof success> };

/** Returns the options of a DELETE: from the body if there is one, else from the query. */
export function deleteOptions(query: URLSearchParams, body: unknown): DeleteOptions {
  const given = (body ?? fromQuery(query)) as {
    gracePeriodSeconds?: number;
    propagationPolicy?: string;
    orphanDependents?: boolean;
    preconditions?: { uid?: string; resourceVersion?: string };
    dryRun?: readonly string[];
  };
  const causes = [...optionFaults(given)];
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', causes);
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } = given;
  return {
    dryRun: dryRun !== undefined && dryRun.length > 0,
    ...(gracePeriodSeconds == null ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy == null ? {} : { propagationPolicy: propagationPolicy as 'Orphan' }),
    ...(orphanDependents == null ? {} : { orphanDependents }),
    ...(preconditions == null ? {} : { preconditions }),
  };
}

function fromQuery(query: URLSearchParams) {
  const grace = parseInteger(query.get('gracePeriodSeconds'));
  const policy = query.get('propagationPolicy');
  const orphan = query.get('orphanDependents');
  const uid = query.get('uid');
  const resourceVersion = query.get('resourceVersion');
  return {
    dryRun: query.getAll('dryRun'),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === null ? {} : { orphanDependents: isTrue(orphan) }),
    ...(uid || resourceVersion
      ? { preconditions: { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) } }
      : {}),
  };
}

function* optionFaults(given: {
  propagationPolicy?: string;
  orphanDependents?: boolean;
  dryRun?: readonly string[];
}): Generator<Cause> {
  const { propagationPolicy, orphanDependents } = given;
  if (propagationPolicy != null && orphanDependents != null) {
    yield invalidField(
      'propagationPolicy',
      propagationPolicy,
      'orphanDependents and deletionPropagation cannot be both set',
    );
  }
  if (propagationPolicy != null && !['Foreground', 'Background', 'Orphan'].includes(propagationPolicy)) {
    yield notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']);
  }
  yield* dryRunFaults(given.dryRun ?? []);
}

/** Deletes one object, or marks it for deletion. */
export async function deleteOne(
  core: Core,
  context: RequestContext,
  resource: Resource,
  name: string,
  options: DeleteOptions,
): Promise<Deleted> {
  const { kind, storage, strategy } = resource;
  const key = keyOf(resource, context.info.namespace, name);
  for (const warning of strategy.deletionWarnings?.(options) ?? []) context.warnings.add(warning);
  await core.feed.waitForCurrent();
  let seen = storage.cache.get(key);
  for (;;) {
    context.signal.throwIfAborted();
    if (!seen) throw notFound(kind, name);
    const object = await inVersion(resource, seen);
    (strategy.checkPreconditions ?? checkPreconditions)(resource, object, options.preconditions);
    await admit(core, context, resource, name, seen, object, options);
    const plan =
      strategy.planDeletion?.(object, options, context) ?? planDeletion(strategy, object, options, context.clock.now());
    const outcome = await executePlan(context, resource, seen, object, plan, options);
    if (outcome.done) return outcome.deleted;
    seen = outcome.current;
  }
}

type Outcome =
  | { readonly done: true; readonly deleted: Deleted }
  | { readonly done: false; readonly current: Cached | undefined };

async function executePlan(
  context: RequestContext,
  resource: Resource,
  seen: Cached,
  object: KubeObject,
  plan: ReturnType<typeof planDeletion>,
  options: DeleteOptions,
): Promise<Outcome> {
  const { storage, strategy, conversion } = resource;
  const still = (result: KubeObject): Outcome => ({
    done: true,
    deleted: { code: options.orphanDependents === false ? 202 : 200, object: result },
  });
  if (plan.action === 'nothing') return still(whole({ object, managedFields: seen.managedFields }));
  if (plan.action === 'mark') {
    const marked = resource.serializer.canonical(whole({ object: plan.object, managedFields: seen.managedFields }));
    if (options.dryRun) return still(marked);
    const written = await storage.replace(seen, await conversion.toStorage(marked), strategy.ttlSeconds);
    if (!written.ok) return { done: false, current: written.current };
    const { cached } = written;
    return still(whole({ object: await inVersion(resource, cached), managedFields: cached.managedFields }));
  }
  const last = plan.last ?? object;
  let { revision } = seen;
  if (!options.dryRun) {
    let current = seen;
    if (plan.last) {
      // Watchers see the grace period of zero before the deletion.
      const marked = resource.serializer.canonical(whole({ object: last, managedFields: seen.managedFields }));
      const written = await storage.replace(seen, await conversion.toStorage(marked), strategy.ttlSeconds);
      if (!written.ok) return { done: false, current: written.current };
      current = written.cached;
    }
    const removed = await storage.remove(current);
    if (!removed.ok) return { done: false, current: removed.current };
    revision = removed.revision;
    await strategy.released?.(object, context);
  }
  return { done: true, deleted: { code: 200, object: deletedResponse(resource, seen, last, revision) } };
}

/** Some kinds return the deleted object, the others only a Status with its name. */
function deletedResponse(resource: Resource, seen: Cached, object: KubeObject, revision: number): Deleted['object'] {
  const { kind, strategy } = resource;
  const { name, uid } = object.metadata;
  if (strategy.returnsDeleted) {
    const last = whole({ object, managedFields: seen.managedFields });
    return { ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } };
  }
  return success({
    ...(name === undefined ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.plural,
    ...(uid === undefined ? {} : { uid }),
  });
}

/** Checks the uid and resourceVersion preconditions of a deletion. */
export function checkPreconditions(
  resource: Resource,
  { metadata }: KubeObject,
  preconditions: DeleteOptions['preconditions'],
): void {
  if (!preconditions) return;
  const { uid, resourceVersion } = preconditions;
  const { group, kind } = kindInMessages(resource);
  const named = { group, plural: kind };
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(
      named,
      metadata.name ?? '',
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      named,
      metadata.name ?? '',
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

async function admit(
  core: Core,
  context: RequestContext,
  resource: Resource,
  name: string,
  seen: Cached,
  object: KubeObject,
  options: DeleteOptions,
): Promise<void> {
  const { dryRun, ...asked } = options;
  const attributes: Attributes = {
    context,
    operation: 'DELETE',
    resource,
    kind: resource.kind,
    serializer: resource.serializer,
    subresource: '',
    namespace: context.info.namespace,
    // A collection request has no object name.
    name: context.info.verb === 'deletecollection' ? '' : name,
    object: undefined,
    oldObject: whole({ object, managedFields: seen.managedFields }),
    options: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...asked, ...(dryRun ? { dryRun: ['All'] } : {}) },
    dryRun,
  };
  await core.admission.mutate(attributes);
  await core.admission.validate(attributes);
}

/** Concurrent deletions of one list: the store batches concurrent writes into one disk write. */
const deletionsAtATime = 64;

/** Deletes all objects of a list, and returns them as they were. */
export async function deleteMany(
  core: Core,
  context: RequestContext,
  resource: Resource,
  listed: ListOptions,
  options: DeleteOptions,
): Promise<Listed> {
  const list = await readMany(core, context, resource, listed);
  const deleteListed = async ({ object }: Listed['items'][number]): Promise<void> => {
    const { name = '', namespace = '' } = object.metadata;
    const one = { ...context, info: { ...context.info, namespace } };
    try {
      await deleteOne(core, one, resource, name, options);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  // If every deletion would be denied, only one is attempted.
  await mapConcurrently(list.items.slice(0, 1), 1, deleteListed);
  await mapConcurrently(list.items.slice(1), deletionsAtATime, deleteListed);
  return list;
}
