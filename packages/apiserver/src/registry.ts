import type { Resource, Subresource } from './resource.ts';

/** Registry of the served resources, which changes with the CustomResourceDefinitions. */
export interface ResourceRegistry {
  find(group: string, version: string, plural: string): Resource | undefined;
  /** Returns a resource in every served version. */
  versionsOf(group: string, plural: string): readonly Resource[];
  all(): Iterable<Resource>;
  add(resource: Resource): void;
  remove(group: string, version: string, plural: string): void;
  /** Generation that increases with every change; discovery and OpenAPI documents are rebuilt then. */
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

/** Adds a subresource that depends on the complete server. */
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
