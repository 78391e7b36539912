import { unclassified } from '@kruise/machinery/status';
import { createStructureSharing, shareStructure } from '@kruise/machinery/structural-sharing';
import type { Feed } from '../cache/feed.ts';
import { loadObjectCache, type ObjectCache, type StoredObject } from '../cache/object-cache.ts';
import {
  type Cached,
  type KubeObject,
  split,
  type Unversioned,
  wholeTexts,
  withoutRevision,
  withRevision,
} from '../object.ts';
import { SpaceExceededError, type Store } from '../store/store.ts';
import { keepStoredText } from '../stored-text.ts';

/** Storage of one resource: reads from the cache, writes to the store. */
export interface ObjectStorage {
  readonly cache: ObjectCache;
  readonly prefix: string;
  keyOf(namespace: string | undefined, name: string): string;
  /** Creates an object that must not exist yet. `current` is the existing object on conflict. */
  create(key: string, object: KubeObject, ttlSeconds?: number): Promise<Written>;
  /** Replaces an object if it still has the revision of `seen`. */
  replace(seen: Cached, object: KubeObject, ttlSeconds?: number): Promise<Written>;
  /** Removes an object if it still has the revision of `seen`. */
  remove(seen: Cached): Promise<Removed>;
  /** Reads the objects at a past revision from the store. */
  past(range: PastRange): Promise<Past>;
}

export type Written =
  | { readonly ok: true; readonly cached: Cached }
  | { readonly ok: false; readonly current: Cached | undefined };
export type Removed =
  | { readonly ok: true; readonly revision: number }
  | { readonly ok: false; readonly current: Cached | undefined };

export type PastRange = {
  readonly keyPrefix: string;
  readonly start?: string;
  readonly limit?: number;
  readonly revision: number;
};
export type Past = {
  readonly items: readonly Cached[];
  readonly more: boolean;
  /** Number of objects from `start` on. */
  readonly count: number;
};

/** Encodes and decodes stored objects of a resource. */
export type StorageCodec = {
  encode(object: KubeObject): string;
  decode(value: Uint8Array): KubeObject;
};

/** Storage names of kinds that Kubernetes has renamed. */
const legacyStorageNames: { readonly [plural: string]: string } = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  ingresses: 'ingress',
};

const apart = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

/** Returns the storage prefix of a built-in resource, which is the same as Kubernetes' in etcd. */
export function storagePrefix({ group, plural }: { readonly group: string; readonly plural: string }): string {
  return apart.has(group) ? customPrefix({ group, plural }) : `/registry/${legacyStorageNames[plural] ?? plural}/`;
}

/** Returns the storage prefix of a custom resource. */
export function customPrefix({ group, plural }: { readonly group: string; readonly plural: string }): string {
  return `/registry/${group}/${plural}/`;
}

export async function openObjectStorage(
  store: Store,
  feed: Feed,
  prefix: string,
  codec: StorageCodec,
): Promise<ObjectStorage> {
  // A write of this server returns as an event with the same bytes. Reusing the written object avoids a second copy:
  // the writer's response and the cache share one object.
  const written = new WeakMap<Uint8Array, Unversioned | Cached>();

  const share = createStructureSharing<KubeObject>(maxOwners);
  const likeSibling = (object: KubeObject) => share(ownerOf(object), object);

  function cached({ key, value, modRevision: revision }: StoredObject): Cached {
    const known = written.get(value);
    if (known && 'revision' in known) return known;
    const { object: bare, managedFields } = known ?? decode(value);
    const object = feed.freeze(withRevision(bare, revision));
    const made = { key, object, managedFields, revision };
    // Other writers to the store may use a different encoding.
    if (known) {
      written.set(value, made);
      keepStoredText(object, value);
    }
    return made;
  }

  function decode(value: Uint8Array): Unversioned {
    const { object, managedFields } = split(codec.decode(value));
    return { object: likeSibling(object), managedFields };
  }

  async function put(key: string, expected: number, kept: Unversioned, ttlSeconds?: number): Promise<Written> {
    const value = bytesOf(wholeTexts(codec.encode(kept.object), kept));
    written.set(value, kept);
    const request = { key, expected, value, ...(ttlSeconds === undefined ? {} : { ttlSeconds }) };
    const result = await store.write(request).catch((error: unknown) => {
      // Kubernetes returns etcd's error text without a reason.
      throw error instanceof SpaceExceededError ? unclassified(error.message) : error;
    });
    if (!result.ok) return { ok: false, current: result.current && cached(result.current) };
    return { ok: true, cached: cached({ key, value, modRevision: result.revision }) };
  }

  const cache = await loadObjectCache(store, feed, prefix, cached);

  return {
    cache,
    prefix,
    keyOf: (namespace, name) => (namespace === undefined ? `${prefix}${name}` : `${prefix}${namespace}/${name}`),
    create(key, created, ttlSeconds) {
      const { object, managedFields } = split(withoutRevision(created));
      return put(key, 0, { object: likeSibling(object), managedFields }, ttlSeconds);
    },
    replace(seen, updated, ttlSeconds) {
      const { object, managedFields } = split(withoutRevision(updated));
      return put(seen.key, seen.revision, { object: shareStructure(object, seen.object), managedFields }, ttlSeconds);
    },
    async remove(seen) {
      const result = await store.write({ key: seen.key, expected: seen.revision, delete: true });
      if (result.ok) return { ok: true, revision: result.revision };
      return { ok: false, current: result.current && cached(result.current) };
    },
    async past({ keyPrefix, ...range }) {
      const { entries, more, count } = await store.range({ prefix: keyPrefix, ...range });
      return { items: entries.map(cached), more, count };
    },
  };
}

/** Maximum number of memoized owners; the objects of one owner are mostly created one after the other. */
const maxOwners = 64;

/** Returns the owner of an object: objects of one owner come from one template, which is most of a Pod. */
function ownerOf({ metadata }: KubeObject): string {
  return metadata.ownerReferences?.[0]?.uid ?? metadata.namespace ?? '';
}

/** Encodes texts into one buffer. */
function bytesOf(texts: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
  let offset = 0;
  for (const text of texts) offset += bytes.write(text, offset);
  return bytes;
}
