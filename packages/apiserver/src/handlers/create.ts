import { namespace as namespaceKind } from '@kruise/api/core/namespace';
import { validateObjectMeta } from '@kruise/api/meta/object-meta.validate';
import { alreadyExists, generatedNameTaken, invalid, isAlreadyExists } from '@kruise/machinery/status';
import type { Draft } from '@kruise/schema/draft';
import type { Cause } from '@kruise/schema/field-error';
import { type Attributes, isResource } from '../admission/admission.ts';
import { authorizeCreate } from '../authorization/attributes.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import { type Cached, type KubeObject, split } from '../object.ts';
import { type Found, kindInMessages, type Resource, type Strategy } from '../resource.ts';
import { admissionOptions } from './admit.ts';
import {
  checkUnversioned,
  dropRepeatedOwners,
  dropSystemFields,
  fillInSystemFields,
  placeInNamespace,
} from './metadata.ts';
import { inVersion, keyOf } from './read.ts';
import { tracker } from './tracking.ts';
import type { WriteOptions } from './write-options.ts';

/** Number of attempts to generate a free name, as in Kubernetes. */
const nameAttempts = 8;

/**
 * Creates an object. `decode` returns a new draft on each call: if a generated name is taken, the whole create is
 * retried with another name.
 */
export async function create(
  core: Core,
  context: RequestContext,
  resource: Resource,
  options: WriteOptions,
  decode: () => Draft<KubeObject>,
): Promise<Found> {
  for (let attempt = 1; ; attempt++) {
    const draft = decode();
    const generated = !draft.metadata.name && Boolean(draft.metadata.generateName);
    try {
      return await createOnce(core, context, resource, options, draft);
    } catch (error) {
      if (!generated || !isAlreadyExists(error)) throw error;
      if (attempt === nameAttempts) throw generatedNameTaken(resource.kind, draft.metadata.name ?? '');
    }
  }
}

async function createOnce(
  core: Core,
  context: RequestContext,
  resource: Resource,
  options: WriteOptions,
  draft: Draft<KubeObject>,
): Promise<Found> {
  placeInNamespace(context, resource, draft);
  dropSystemFields(draft);
  dropRepeatedOwners(context, draft, false);
  const track = tracker(context, resource, options, { name: '', strategy: resource.strategy });
  return admitAndStore(core, context, resource, options, track.created(draft));
}

/** Second half of a create: everything after decoding and field tracking. */
export async function admitAndStore(
  core: Core,
  context: RequestContext,
  resource: Resource,
  options: WriteOptions,
  draft: Draft<KubeObject>,
): Promise<Found> {
  const attributes: Attributes = {
    context,
    operation: 'CREATE',
    resource,
    kind: resource.kind,
    serializer: resource.serializer,
    subresource: '',
    // For admission, a Namespace is in the namespace with its own name.
    namespace: isResource(resource.kind, namespaceKind) ? (draft.metadata.name ?? '') : context.info.namespace,
    name: draft.metadata.name ?? '',
    object: draft as KubeObject,
    oldObject: undefined,
    options: admissionOptions('CreateOptions', context, options),
    dryRun: options.dryRun,
  };
  const admitted = (await core.admission.mutate(attributes)) as Draft<KubeObject>;
  dropRepeatedOwners(context, admitted, true);

  const { strategy } = resource;
  strategy.prepareForCreate(admitted, context);
  fillInSystemFields(context, strategy, admitted);
  strategy.completeCreate?.(admitted, context);
  const reservation = await strategy.reserve?.(admitted, undefined, context);
  try {
    const object = resource.serializer.canonical(admitted as KubeObject);
    rejectInvalid(kindInMessages(resource), object, createFaults(strategy, resource, object, context));
    if (strategy.checkReferences)
      rejectInvalid(kindInMessages(resource), object, await strategy.checkReferences(object, undefined, context));
    for (const warning of strategy.warnings?.(object, undefined) ?? []) context.warnings.add(warning);
    // An update or an apply may create the object, which needs the right to create it as well.
    if (context.info.verb !== 'create') await authorizeCreate(core, context);
    await core.admission.validate({ ...attributes, object, name: object.metadata.name ?? '' });
    const found = await store(core, resource, options, object);
    if (options.dryRun) await reservation?.rollback();
    else await reservation?.commit();
    return found;
  } catch (error) {
    await reservation?.rollback();
    throw error;
  }
}

/** Validates the kind-specific rules first; metadata errors are only reported if there are none. */
function* createFaults(
  strategy: Strategy,
  resource: Resource,
  object: KubeObject,
  context: RequestContext,
): Generator<Cause> {
  let faulty = false;
  for (const cause of strategy.validate(object, context)) {
    faulty = true;
    yield cause;
  }
  if (!faulty) yield* validateObjectMeta(object.metadata, { namespaced: resource.kind.scope === 'Namespaced' });
}

export function rejectInvalid(
  kind: { readonly group: string; readonly kind: string },
  object: KubeObject,
  faults: Iterable<Cause>,
): void {
  const causes = [...faults];
  if (causes.length > 0) throw invalid(kind, object.metadata.name ?? '', causes);
}

async function store(core: Core, resource: Resource, options: WriteOptions, object: KubeObject): Promise<Found> {
  const { storage, conversion, strategy } = resource;
  const name = object.metadata.name ?? '';
  const key = keyOf(resource, object.metadata.namespace ?? '', name);
  if (options.dryRun) {
    await core.feed.waitForCurrent();
    const existing = storage.cache.get(key);
    if (existing) throw alreadyExistsError(resource, name, existing);
    const shown = await throughStorage(conversion, object);
    return { cached: { key, ...split(shown), revision: 0 }, object: shown };
  }
  checkUnversioned(object);
  const stored = await conversion.toStorage(object);
  const written = await storage.create(key, stored, strategy.ttlSeconds);
  if (!written.ok) throw alreadyExistsError(resource, name, written.current);
  const { cached } = written;
  // No conversion is needed if the requested version is the storage version.
  return { cached, object: stored === object ? cached.object : await inVersion(resource, cached) };
}

/** Converts an object to the storage version and back: the storage version may not represent all fields. */
export async function throughStorage(conversion: Resource['conversion'], object: KubeObject): Promise<KubeObject> {
  const stored = await conversion.toStorage(object);
  return stored === object ? object : conversion.fromStorage(stored);
}

function alreadyExistsError({ kind }: Resource, name: string, current: Cached | undefined): Error {
  const error = alreadyExists(kind, name);
  if (!current?.object.metadata.deletionTimestamp) return error;
  const message = `object is being deleted: ${error.status.message}`;
  return Object.assign(error, { message, status: { ...error.status, message } });
}
