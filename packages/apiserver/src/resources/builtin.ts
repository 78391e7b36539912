import { builtinKinds } from '@kruise/api/builtin';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import type { Feed } from '../cache/feed.ts';
import type { Conversion, Resource, Subresource } from '../resource.ts';
import { openObjectStorage, storagePrefix } from '../storage/object-storage.ts';
import type { Store } from '../store/store.ts';
import { tableColumnsOf } from '../table/columns.ts';
import { rulesOf } from './kinds.ts';
import { partStrategy, type Rules, statusStrategyOf, strategyOf } from './rules.ts';
import { scaleOf } from './scale.ts';
import { selectableFieldsOf } from './selectable-fields.ts';
import { serializerOf } from './serializer.ts';

/** All resources of Kubernetes itself that hold objects. */
export async function builtinResources(store: Store, feed: Feed): Promise<Resource[]> {
  const stored = builtinKinds.filter(({ verbs }) => verbs.includes('watch'));
  return Promise.all(stored.map((kind) => builtinResource(store, feed, kind)));
}

async function builtinResource(store: Store, feed: Feed, kind: Kind): Promise<Resource> {
  const rules = rulesOf(kind);
  const serializer = serializerOf(kind, rules);
  return {
    kind,
    custom: false,
    storage: await openObjectStorage(store, feed, storagePrefix(kind), {
      encode: (object) => serializer.toJson(object),
      decode: (value) => JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()),
    }),
    serializer,
    conversion: sameVersion(kind),
    strategy: strategyOf(kind, rules),
    tracked: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      type: mergeTypeOf(kind.root),
      empty: serializer.canonical({ apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: {} }),
    },
    selectableFields: selectableFieldsOf(kind),
    table: tableColumnsOf(kind),
    subresources: subresourcesOf(kind, rules),
  };
}

function sameVersion({ version }: Kind): Conversion {
  return { storageVersion: version, toStorage: (object) => object, fromStorage: (object) => object };
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
