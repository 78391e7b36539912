import { builtinKinds } from '@kruise/api/builtin';
import { codecOf } from '@kruise/schema/codec';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import type { Feed } from '../cache/feed.ts';
import type { KubeObject } from '../object.ts';
import { type ObjectStorage, openObjectStorage, storagePrefix } from '../objects/object-storage.ts';
import type { Resource, Subresource } from '../resource.ts';
import type { Store } from '../store/store.ts';
import { tableColumnsOf } from '../table/columns.ts';
import type { TableColumns } from '../table/table.ts';
import { conversionOf, convertToEquivalent, findEquivalentKind } from './equivalent-kinds.ts';
import { rulesOf } from './kinds.ts';
import { partStrategy, type Rules, statusStrategyOf, strategyOf } from './rules.ts';
import { scaleOf } from './scale.ts';
import { selectableFieldsOf } from './selectable-fields.ts';
import { serializerOf } from './serializer.ts';

/** Creates all built-in resources with stored objects. */
export async function builtinResources(store: Store, feed: Feed): Promise<Resource[]> {
  const held = builtinKinds.filter(({ verbs }) => verbs.includes('watch'));
  const storages = new Map<Kind, Promise<ObjectStorage>>();
  const storageOf = (kind: Kind) => {
    let storage = storages.get(kind);
    if (!storage) storages.set(kind, (storage = openStorage(store, feed, kind)));
    return storage;
  };
  return Promise.all(
    held.map(async (kind) => builtinResource(kind, await storageOf(findEquivalentKind(kind)?.stored ?? kind))),
  );
}

function openStorage(store: Store, feed: Feed, kind: Kind): Promise<ObjectStorage> {
  const codec = codecOf(kind.root);
  return openObjectStorage(store, feed, storagePrefix(kind), {
    encode: (object) => codec.toJson(object),
    decode: (value) => JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()),
  });
}

function builtinResource(kind: Kind, storage: ObjectStorage): Resource {
  const rules = rulesOf(kind);
  const serializer = serializerOf(kind, rules);
  const stored = findEquivalentKind(kind)?.stored;
  return {
    kind,
    ...(stored ? { messageKind: stored } : {}),
    ...(rules.deprecation === undefined ? {} : { deprecation: rules.deprecation }),
    ...(rules.fieldAnnotations === undefined ? {} : { fieldAnnotations: rules.fieldAnnotations }),
    custom: false,
    storage,
    serializer,
    conversion: conversionOf(kind),
    strategy: strategyOf(kind, rules),
    tracked: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      type: mergeTypeOf(kind.root),
      empty: serializer.canonical({ apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: {} }),
      convert: (object, apiVersion) => convertToEquivalent(object as KubeObject, apiVersion),
    },
    selectableFields: selectableFieldsOf(kind),
    table: tableOf(kind),
    subresources: subresourcesOf(kind, rules),
  };
}

/**
 * Returns the Table columns of a kind. Rows are made from stored objects, which may have more fields than the requested
 * version.
 */
function tableOf(kind: Kind): TableColumns {
  const other = findEquivalentKind(kind);
  if (!other) return tableColumnsOf(kind);
  const { cells, ...table } = tableColumnsOf(other.stored);
  return { ...table, cells: (object, nowMs) => cells(other.toStorage(object), nowMs) };
}

function subresourcesOf(kind: Kind, rules: Rules): ReadonlyMap<string, Subresource> {
  const found = new Map<string, Subresource>();
  if (kind.subresources.includes('status')) {
    found.set('status', { type: 'part', verbs: ['get', 'patch', 'update'], strategy: statusStrategyOf(rules) });
  }
  for (const [name, part] of Object.entries(rules.parts ?? {})) {
    found.set(name, { type: 'part', verbs: part.verbs, strategy: partStrategy(rules, part) });
  }
  if (kind.subresources.includes('scale')) found.set('scale', scaleOf(kind));
  return found;
}
