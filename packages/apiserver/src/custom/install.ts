import { isSame } from '@kruise/machinery/json-value';
import { isAlreadyExists } from '@kruise/machinery/status';
import type { Core } from '../core.ts';
import { create } from '../handlers/create.ts';
import { put } from '../handlers/put.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { asDefinition, hasCondition } from './definition.ts';
import { internalOptions, internalRequest } from './own-request.ts';

/**
 * Installs the given definitions, and updates existing ones. Resolves once all are established, so that their objects
 * can be requested. The definitions must be valid: they are not validated on every start.
 */
export async function installDefinitions(core: Core, definitions: readonly KubeObject[]): Promise<void> {
  const served = core.resources.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')!;
  const resource = { ...served, strategy: { ...served.strategy, validate: () => [], validateUpdate: () => [] } };
  await Promise.all(definitions.map((definition) => install(core, resource, definition)));
  await established(
    core,
    resource,
    definitions.map(({ metadata }) => metadata.name!),
  );
}

async function install(core: Core, resource: Resource, definition: KubeObject): Promise<void> {
  const { serializer, storage } = resource;
  const existing = storage.cache.get(storage.keyOf(undefined, definition.metadata.name!))?.object;
  const decode = () => serializer.decodeValue(definition).draft;
  if (!existing) {
    const context = internalRequest(core, resource, 'create', definition);
    await create(core, context, resource, internalOptions, decode).catch((error) => {
      // Another server of the same cluster may create the definition first.
      if (!isAlreadyExists(error)) throw error;
    });
    return;
  }
  const { spec } = serializer.canonical(decode() as KubeObject);
  if (isSame(spec, existing['spec'])) return;
  const value = { ...existing, spec };
  await put(core, internalRequest(core, resource, 'update', existing), resource, { type: 'value', value });
}

/** Resolves once all definitions with these names are established. */
function established(core: Core, { storage }: Resource, names: readonly string[]): Promise<void> {
  const { cache, keyOf } = storage;
  const isReady = (name: string) => {
    const found = cache.get(keyOf(undefined, name));
    return found !== undefined && hasCondition(asDefinition(found.object), 'Established');
  };
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, core.signal]);
    const checkEstablished = () => {
      if (!names.every(isReady)) return;
      over.abort();
      resolve();
    };
    core.signal.addEventListener('abort', () => reject(core.signal.reason), { once: true, signal: over.signal });
    cache.listAndWatch({ keyPrefix: storage.prefix }, { signal, receive: checkEstablished, end: () => {} });
    checkEstablished();
  });
}
