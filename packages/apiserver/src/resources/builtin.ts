import { builtinKinds } from '@kruise/api/builtin';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import type { Feed } from '../cache/feed.ts';
import type { KubeObject } from '../object.ts';
import type { Conversion, Resource, Serializer, Subresource } from '../resource.ts';
import { type ObjectStorage, openObjectStorage, storagePrefix } from '../storage/object-storage.ts';
import type { Store } from '../store/store.ts';
import { tableColumnsOf } from '../table/columns.ts';
import { rulesOf } from './kinds.ts';
import { type Rules, statusStrategyOf, strategyOf } from './rules.ts';
import { selectableFieldsOf } from './selectable-fields.ts';

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

/** Reads and writes objects of a built-in kind by its schema, with its defaults. */
export function serializerOf(kind: Kind, rules: Rules): Serializer {
  const codec = codecOf(kind.root);
  const decoded = (object: unknown, strictErrors: readonly string[]) => {
    const draft = object as Draft<KubeObject>;
    draft.metadata ??= {};
    rules.default?.(draft);
    return { draft, strictErrors };
  };
  return {
    decodeText(text) {
      const { object, strictErrors } = codec.decode(text);
      return decoded(object, strictErrors);
    },
    decodeValue(value) {
      const strictErrors: string[] = [];
      const object = codec.fromJson(value, {
        onUnknown: (path) => strictErrors.push(`unknown field ${JSON.stringify(path)}`),
      });
      return decoded(object, strictErrors);
    },
    canonical: (object) => codec.canonical(object) as KubeObject,
    toJson: (object) => codec.toJson(object),
    protobuf: {
      decode(bytes) {
        const object = codec.fromProtobuf(bytes) as Draft<KubeObject>;
        return decoded(object, []).draft;
      },
      encode: (object) => codec.toProtobuf(object),
    },
  };
}

function sameVersion({ version }: Kind): Conversion {
  return { storageVersion: version, toStorage: (object) => object, fromStorage: (object) => object };
}

function subresourcesOf(kind: Kind, rules: Rules): ReadonlyMap<string, Subresource> {
  const found = new Map<string, Subresource>();
  if (kind.subresources.includes('status')) {
    found.set('status', { type: 'part', verbs: ['get', 'patch', 'update'], strategy: statusStrategyOf(kind, rules) });
  }
  return found;
}
