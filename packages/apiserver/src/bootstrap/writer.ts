import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import { create } from '../handlers/create.ts';
import { deleteOne } from '../handlers/delete.ts';
import { patch } from '../handlers/patch.ts';
import { put } from '../handlers/put.ts';
import { keyOf } from '../handlers/read.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { serverItself } from '../user.ts';

/** Writes the server's own objects through the normal write path, without authorization. */
export interface Writer {
  /** Returns the object from the cache, if it exists. */
  current(object: KubeObject): KubeObject | undefined;
  create(object: KubeObject): Promise<void>;
  update(object: KubeObject): Promise<void>;
  remove(object: KubeObject): Promise<void>;
  /** Applies a status; the object contains the fields to apply. */
  applyStatus(object: KubeObject): Promise<void>;
}

export type WriterOptions = {
  /** Skips validation of created objects, because tests have validated them: this makes the start faster. */
  readonly skipsValidation?: boolean;
};

/** Creates a writer with a field manager. */
export function createWriter(core: Core, manager: string, { skipsValidation = false }: WriterOptions = {}): Writer {
  const byKind = new Map<string, Resource>();
  function resourceOf({ apiVersion, kind }: KubeObject): Resource {
    const id = `${apiVersion} ${kind}`;
    let resource = byKind.get(id);
    if (!resource) {
      for (const each of core.resources.all()) {
        const { group, version } = each.kind;
        if (each.kind.kind === kind && (group === '' ? version : `${group}/${version}`) === apiVersion) resource = each;
      }
      if (!resource) throw new Error(`there is no resource for ${id}`);
      byKind.set(id, resource);
    }
    return resource;
  }

  function contextOf(object: KubeObject, { kind }: Resource, verb: string, subresource = ''): RequestContext {
    const { name = '', namespace = '' } = object.metadata;
    const { group, version, plural } = kind;
    return {
      info: {
        isResource: true,
        path: '',
        verb,
        group,
        version,
        namespace,
        plural,
        subresource,
        name,
        rest: [],
      },
      query: new URLSearchParams({ fieldManager: manager, ...(subresource === '' ? {} : { force: 'true' }) }),
      user: serverItself,
      userAgent: manager,
      clock: core.clock,
      random: core.random,
      signal: core.signal,
      warnings: new Set(),
      auditAnnotations: new Map(),
    };
  }

  const options = { dryRun: false, fieldManager: manager, fieldValidation: 'Ignore', force: undefined } as const;

  return {
    current(object) {
      const resource = resourceOf(object);
      const { name = '', namespace = '' } = object.metadata;
      return resource.storage.cache.get(keyOf(resource, namespace, name))?.object;
    },
    async create(object) {
      const resource = resourceOf(object);
      await create(
        core,
        contextOf(object, resource, 'create'),
        skipsValidation ? { ...resource, strategy: { ...resource.strategy, validate: () => [] } } : resource,
        options,
        () => resource.serializer.decodeValue(object).draft,
      );
    },
    async update(object) {
      const resource = resourceOf(object);
      await put(core, contextOf(object, resource, 'update'), resource, { type: 'value', value: object });
    },
    async remove(object) {
      const resource = resourceOf(object);
      const context = contextOf(object, resource, 'delete');
      await deleteOne(core, context, resource, context.info.name, { dryRun: false });
    },
    async applyStatus(object) {
      const resource = resourceOf(object);
      const subresource = resource.subresources.get('status');
      if (subresource?.type !== 'part') throw new Error(`${object.kind} has no status of its own`);
      const part = { name: 'status', strategy: subresource.strategy };
      const contentType = 'application/apply-patch+yaml';
      const context = contextOf(object, resource, 'patch', 'status');
      await patch(core, context, resource, { type: 'value', value: object, contentType }, part);
    },
  };
}
