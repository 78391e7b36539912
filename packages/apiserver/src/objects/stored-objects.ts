import type { KubeObject } from '../object.ts';
import type { ResourceRegistry } from '../registry.ts';
import type { ObjectStorage } from './object-storage.ts';

/** Read-only storage of one resource, for components of the server. */
export type StoredObjects = Pick<ObjectStorage, 'cache' | 'prefix'>;

/** Returns the storage of a built-in resource. */
export function storedObjects(resources: ResourceRegistry, group: string, plural: string): StoredObjects {
  const resource = resources.find(group, 'v1', plural);
  if (!resource) throw new Error(`there is no resource ${plural}${group === '' ? '' : `.${group}`}`);
  return resource.storage;
}

/** Finds an object by name; `namespace` is empty for cluster-scoped objects. */
export function find({ cache, prefix }: StoredObjects, namespace: string, name: string): KubeObject | undefined {
  return cache.get(namespace === '' ? `${prefix}${name}` : `${prefix}${namespace}/${name}`)?.object;
}
