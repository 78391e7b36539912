import type { Resource, Subresource } from './resource.ts';

/** The resources a server offers, which change as CustomResourceDefinitions come and go. */
export interface ResourceRegistry {
  find(group: string, version: string, plural: string): Resource | undefined;
  /** The same resource in every version it is served in. */
  versionsOf(group: string, plural: string): readonly Resource[];
  all(): Iterable<Resource>;
  add(resource: Resource): void;
  remove(group: string, version: string, plural: string): void;
  /** Grows by one with every change: what is made of the whole (discovery, OpenAPI) is made anew. */
  readonly generation: number;
}

export function createResourceRegistry(): ResourceRegistry {
  const resources = new Map<string, Resource>();
  let generation = 0;
  const idOf = (group: string, version: string, plural: string) => `${group}/${version}/${plural}`;
  return {
    find: (group, version, plural) => resources.get(idOf(group, version, plural)),
    versionsOf: (group, plural) =>
      [...resources.values()].filter(({ kind }) => kind.group === group && kind.plural === plural),
    all: () => resources.values(),
    add(resource) {
      const { group, version, plural } = resource.kind;
      resources.set(idOf(group, version, plural), resource);
      generation++;
    },
    remove(group, version, plural) {
      if (resources.delete(idOf(group, version, plural))) generation++;
    },
    get generation() {
      return generation;
    },
  };
}

/** Adds another way to the objects of a resource, for those that need the whole server to work. */
export function addSubresource(
  resources: ResourceRegistry,
  group: string,
  plural: string,
  name: string,
  make: (resource: Resource) => Subresource,
): void {
  for (const resource of resources.versionsOf(group, plural)) {
    resources.add({ ...resource, subresources: new Map([...resource.subresources, [name, make(resource)]]) });
  }
}
