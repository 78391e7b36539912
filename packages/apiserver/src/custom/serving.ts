import { isSame } from '@kruise/machinery/json-value';
import { stringify } from '@kruise/values/go-json';
import type { Core } from '../core.ts';
import { customPrefix, type ObjectStorage, openObjectStorage } from '../objects/object-storage.ts';
import type { Resource } from '../resource.ts';
import type { Converter } from './converter.ts';
import { type Definition, hasCondition, isServing, storageVersionOf } from './definition.ts';
import { customResources } from './resources.ts';
import { parseStored } from './serializer.ts';

/** Serves custom resources: keeps the resource registry in sync with the definitions. */
export interface CustomServing {
  /** Opens the storage of a definition, so that it can be served as soon as it is established. */
  prepare(definition: Definition): Promise<void>;
  /** Serves the current state of a definition; synchronous if the definition was prepared. */
  serve(definition: Definition): Promise<void> | undefined;
  /** Stops serving a deleted definition. */
  withdraw(name: string): void;
  /** Returns the resource of the storage version, even if that version is not served. */
  stored(name: string): Resource | undefined;
}

type Entry = {
  readonly storage: ObjectStorage;
  definition?: Definition;
  resources: ReadonlyMap<string, Resource>;
};

export type ServingOptions = {
  readonly converterOf: (definition: Definition) => Converter;
  /** Called when a group version is added or removed. */
  readonly changed: (groupVersion: { readonly group: string; readonly version: string }) => void;
};

export function createCustomServing(core: Core, { converterOf, changed }: ServingOptions): CustomServing {
  const entries = new Map<string, Entry>();
  const opening = new Map<string, Promise<Entry>>();

  async function open({ metadata, spec }: Definition): Promise<Entry> {
    const prefix = customPrefix({ group: spec.group, plural: spec.names.plural });
    const storage = await openObjectStorage(core.store, core.feed, prefix, {
      encode: (object) => stringify(object),
      decode: parseStored,
    });
    const entry: Entry = { storage, resources: new Map() };
    entries.set(metadata.name!, entry);
    return entry;
  }

  function opened(definition: Definition): Entry | Promise<Entry> {
    const name = definition.metadata.name!;
    const entry = entries.get(name);
    if (entry) return entry;
    let pending = opening.get(name);
    if (!pending) {
      pending = open(definition).finally(() => opening.delete(name));
      opening.set(name, pending);
    }
    return pending;
  }

  /** Updates the registry to serve exactly the versions of a definition. */
  function offer(entry: Entry, definition: Definition): void {
    const { definition: before } = entry;
    if (before && isServedIdentically(before, definition)) {
      entry.definition = definition;
      return;
    }
    const isOther = !before || !isSameResource(before, definition);
    const resources = customResources(definition, entry.storage, converterOf(definition));
    register(entry, isServing(definition) ? servedOf(definition, resources) : []);
    entry.resources = resources;
    entry.definition = definition;
    // Watchers have received objects in a form that may no longer be valid.
    if (before && isOther) entry.storage.cache.endWatches();
  }

  function register(entry: Entry, served: readonly Resource[]): void {
    const { definition } = entry;
    const before = definition && isServing(definition) ? servedOf(definition, entry.resources) : [];
    for (const { kind } of before) {
      const isKept = served.some((other) => other.kind.version === kind.version && other.kind.plural === kind.plural);
      if (!isKept) core.resources.remove(kind.group, kind.version, kind.plural);
    }
    for (const resource of served) core.resources.add(resource);
    const versions = new Set([...before, ...served].map(({ kind }) => kind.version));
    const [any] = [...before, ...served];
    for (const version of versions) changed({ group: any!.kind.group, version });
  }

  /** Built-in resources take precedence over definitions with the same name. */
  function isBuiltIn({ spec }: Definition): boolean {
    const { group, names } = spec;
    if (core.resources.versionsOf(group, names.plural).some(({ custom }) => !custom)) return true;
    return Array.from(core.virtual.values()).some(({ kind }) => kind.group === group && kind.plural === names.plural);
  }

  return {
    async prepare(definition) {
      if (!isBuiltIn(definition)) await opened(definition);
    },
    serve(definition) {
      if (isBuiltIn(definition)) return undefined;
      const entry = opened(definition);
      if (entry instanceof Promise) return entry.then((ready) => offer(ready, definition));
      offer(entry, definition);
      return undefined;
    },
    withdraw(name) {
      // A storage that is still being opened is closed as soon as it is open.
      void opening.get(name)?.then(
        () => this.withdraw(name),
        () => {},
      );
      const entry = entries.get(name);
      if (!entry) return;
      register(entry, []);
      entries.delete(name);
      entry.storage.cache.close();
    },
    stored(name) {
      const entry = entries.get(name);
      return entry?.definition && entry.resources.get(storageVersionOf(entry.definition));
    },
  };
}

function servedOf({ spec }: Definition, resources: ReadonlyMap<string, Resource>): readonly Resource[] {
  return spec.versions.flatMap(({ name, served }) => (served ? [resources.get(name)!] : []));
}

/** Reports whether two definitions are served identically. */
function isServedIdentically(before: Definition, after: Definition): boolean {
  return (
    isServing(before) === isServing(after) &&
    hasCondition(before, 'Established') === hasCondition(after, 'Established') &&
    hasCondition(before, 'Terminating') === hasCondition(after, 'Terminating') &&
    isSameResource(before, after)
  );
}

function isSameResource(before: Definition, after: Definition): boolean {
  return (
    before.metadata.uid === after.metadata.uid &&
    isSame(before.spec, after.spec) &&
    isSame(before.status?.acceptedNames, after.status?.acceptedNames)
  );
}
