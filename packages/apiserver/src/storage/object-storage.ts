import { createSharing, sharing } from '@kruise/machinery/sharing';
import { unclassified } from '@kruise/machinery/status';
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

/** The objects of one resource: read from memory, written to the store. */
export interface ObjectStorage {
  readonly cache: ObjectCache;
  readonly prefix: string;
  keyOf(namespace: string | undefined, name: string): string;
  /** Writes an object that must not exist yet. `current` is the one that does. */
  create(key: string, object: KubeObject, ttlSeconds?: number): Promise<Written>;
  /** Replaces an object, provided it is still at the revision the writer has seen. */
  replace(seen: Cached, object: KubeObject, ttlSeconds?: number): Promise<Written>;
  /** Removes an object, provided it is still at the revision the writer has seen. */
  remove(seen: Cached): Promise<Removed>;
  /** The objects at a revision of the past, from the store. */
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
  /** How many there are from `start` on. */
  readonly count: number;
};

/** How a resource's objects are written down, and read again. */
export type StorageCodec = {
  encode(object: KubeObject): string;
  decode(value: Uint8Array): KubeObject;
};

/** Where Kubernetes keeps objects of kinds that were once called otherwise. */
const formerNames: { readonly [plural: string]: string } = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  ingresses: 'ingress',
};

const apart = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

/** Where the objects of a built-in resource are stored: where Kubernetes itself stores them in etcd. */
export function storagePrefix({ group, plural }: { readonly group: string; readonly plural: string }): string {
  return apart.has(group) ? customPrefix({ group, plural }) : `/registry/${formerNames[plural] ?? plural}/`;
}

/** Where the objects of a custom resource are stored. */
export function customPrefix({ group, plural }: { readonly group: string; readonly plural: string }): string {
  return `/registry/${group}/${plural}/`;
}

export async function openObjectStorage(
  store: Store,
  feed: Feed,
  prefix: string,
  codec: StorageCodec,
): Promise<ObjectStorage> {
  // What this server wrote comes back to it as an event with the same bytes. The object they were made of is at hand,
  // and using it means that nobody ever holds a second copy: the writer is answered with what the cache has.
  const written = new WeakMap<Uint8Array, Unversioned | Cached>();

  const share = createSharing<KubeObject>(maxOwners);
  const likeSibling = (object: KubeObject) => share(ownerOf(object), object);

  function cached({ key, value, modRevision: revision }: StoredObject): Cached {
    const known = written.get(value);
    if (known && 'revision' in known) return known;
    const { object: bare, managedFields } = known ?? decode(value);
    const object = feed.held(withRevision(bare, revision));
    const made = { key, object, managedFields, revision };
    // Whoever else writes to the store need not write as this server does.
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
      // Kubernetes answers with the words of etcd, and without a reason.
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
      return put(seen.key, seen.revision, { object: sharing(object, seen.object), managedFields }, ttlSeconds);
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

/** How many owners' objects are remembered; those of one are mostly made one after the other. */
const maxOwners = 64;

/** Objects of one owner are made from one template: of a Pod that is most of it. */
function ownerOf({ metadata }: KubeObject): string {
  return metadata.ownerReferences?.[0]?.uid ?? metadata.namespace ?? '';
}

/** Texts as bytes, one after the other. */
function bytesOf(texts: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
  let offset = 0;
  for (const text of texts) offset += bytes.write(text, offset);
  return bytes;
}
