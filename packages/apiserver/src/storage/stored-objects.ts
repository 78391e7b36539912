import type { KubeObject } from '../object.ts';
import type { ResourceRegistry } from '../registry.ts';
import type { ObjectStorage } from './object-storage.ts';

/** The objects of one resource, for those within the server who only read them. */
export type StoredObjects = Pick<ObjectStorage, 'cache' | 'prefix'>;

/** The objects of a built-in resource. */
export function storedObjects(resources: ResourceRegistry, group: string, plural: string): StoredObjects {
  const resource = resources.find(group, 'v1', plural);
  if (!resource) throw new Error(`there is no resource ${plural}${group === '' ? '' : `.${group}`}`);
  return resource.storage;
}

/** An object by name, if it exists; `namespace` is empty for those of the cluster. */
export function find({ cache, prefix }: StoredObjects, namespace: string, name: string): KubeObject | undefined {
  return cache.get(namespace === '' ? `${prefix}${name}` : `${prefix}${namespace}/${name}`)?.object;
}
