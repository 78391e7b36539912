import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { apiVersionOf } from '@kruise/schema/kind';
import type { ApiRequest, Transport, WatchEvent } from './transport.ts';

/** Name and namespace of an object. */
export type Reference = { readonly name: string; readonly namespace?: string };

/** Selection, consistency and paging of a list. */
export type ListOptions = {
  /** Namespace to list; all namespaces if omitted. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  readonly limit?: number;
  readonly continue?: string;
  readonly signal?: AbortSignal;
};

/** Selection, start and duration of a watch. */
export type WatchOptions = Omit<ListOptions, 'limit' | 'continue'> & {
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
};

/** Options of a write: field manager, field validation, dry run and subresource. */
export type WriteOptions = {
  readonly fieldManager?: string;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  readonly dryRun?: boolean;
  /** Subresource to write instead of the object, for example `status` or `scale`. */
  readonly subresource?: string;
  readonly signal?: AbortSignal;
};

/** Grace period, propagation policy and preconditions of a deletion. */
export type DeleteOptions = {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
};

/** A list of objects with its resourceVersion and, if the list is incomplete, its continue token. */
export type List<T> = {
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
};

/** Patch formats. */
export type PatchType = 'json' | 'merge' | 'strategic';

const patchTypes: { readonly [T in PatchType]: string } = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};
const applyType = 'application/apply-patch+yaml';

type Object = { readonly metadata: ObjectMeta };

/**
 * Kubernetes client: reads and writes the objects of a cluster. An error of the server is thrown as a `StatusError`.
 *
 * ```ts
 * const web = await client.get(deployment, { namespace: 'default', name: 'web' });
 * await client.patch(deployment, { namespace: 'default', name: 'web' }, { spec: { replicas: 3 } }, { type: 'merge' });
 * ```
 */
export interface Client {
  /** Gets an object. */
  get<K extends Kind>(
    kind: K,
    reference: Reference,
    options?: { readonly subresource?: string; readonly signal?: AbortSignal },
  ): Promise<ObjectOf<K>>;
  /** Lists the selected objects, at most `limit` of them; `eachPage` reads the following pages. */
  list<K extends Kind>(kind: K, options?: ListOptions): Promise<List<ObjectOf<K>>>;
  /**
   * Watches the selected objects from a resourceVersion on, until the server ends the watch or the signal is aborted.
   */
  watch<K extends Kind>(kind: K, options?: WatchOptions): AsyncIterable<WatchEvent<ObjectOf<K>>>;
  /** Creates an object. */
  create<K extends Kind>(kind: K, object: Partial<ObjectOf<K>>, options?: WriteOptions): Promise<ObjectOf<K>>;
  /**
   * Replaces an object. If the object has a resourceVersion that is not the stored one, the update fails with a
   * conflict.
   */
  update<K extends Kind>(kind: K, object: ObjectOf<K>, options?: WriteOptions): Promise<ObjectOf<K>>;
  /** Patches an object. */
  patch<K extends Kind>(
    kind: K,
    reference: Reference,
    patch: unknown,
    options: WriteOptions & { readonly type: PatchType },
  ): Promise<ObjectOf<K>>;
  /** Server-side apply: the field manager owns exactly the fields in `object`. */
  apply<K extends Kind>(
    kind: K,
    object: Partial<ObjectOf<K>>,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<ObjectOf<K>>;
  /** Posts to a subresource with its own kind: Eviction, Binding, TokenRequest. */
  post<K extends Kind, S extends Kind>(
    kind: K,
    reference: Reference,
    subresource: { readonly name: string; readonly kind: S },
    body: Partial<ObjectOf<S>>,
    options?: Omit<WriteOptions, 'subresource'>,
  ): Promise<ObjectOf<S>>;
  /** Deletes an object. Returns the terminating object, or a Status if the object is gone. */
  delete<K extends Kind>(kind: K, reference: Reference, options?: DeleteOptions): Promise<unknown>;
  /** Deletes all selected objects. */
  deleteCollection<K extends Kind>(kind: K, selection: ListOptions, options?: DeleteOptions): Promise<void>;
  /** Transport of this client, for all other requests. */
  readonly transport: Transport;
}

/** Returns the URL path of a collection, an object or a subresource. */
export function pathOf(kind: Kind, { name, namespace }: Partial<Reference>, subresource?: string): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const place = kind.scope === 'Namespaced' && namespace ? `/namespaces/${encodeName(namespace)}` : '';
  const one = name === undefined ? '' : `/${encodeName(name)}`;
  return `${root}${place}/${kind.plural}${one}${subresource ? `/${subresource}` : ''}`;
}

/** Encodes a path segment. Nearly all names need no encoding, and the test is cheaper than the encoding. */
function encodeName(name: string): string {
  return /^[\w.-]*$/.test(name) ? name : encodeURIComponent(name);
}

/** Options of a client. */
export type ClientOptions = {
  /** Requests only metadata (PartialObjectMetadata). An in-process transport returns whole objects regardless. */
  readonly metadataOnly?: boolean;
  /** Marks all requests as background work: a server in the same process handles other requests first. */
  readonly isBackground?: boolean;
};

/**
 * Creates a client on a transport.
 *
 * ```ts
 * const client = createClient(createHttpTransport({ server: 'https://127.0.0.1:6443', clock, credentials }));
 * ```
 */
export function createClient(transport: Transport, options: ClientOptions = {}): Client {
  const { metadataOnly = false, isBackground = false } = options;
  const accepting = (form: string) =>
    metadataOnly ? { accept: `application/json;as=${form};g=meta.k8s.io;v=v1,application/json` } : {};
  const one = accepting('PartialObjectMetadata');
  const many = accepting('PartialObjectMetadataList');
  async function send<T>(request: ApiRequest): Promise<T> {
    const { object } = await transport.request(isBackground ? { ...request, isBackground } : request);
    return object as T;
  }
  const withSignal = (signal: AbortSignal | undefined) => (signal ? { signal } : {});
  const writeQuery = ({ fieldManager, fieldValidation, dryRun }: WriteOptions) => ({
    fieldManager,
    fieldValidation,
    dryRun: dryRun ? 'All' : undefined,
  });
  const referenceOf = (object: unknown): Reference => {
    const { name = '', namespace } = (object as Object).metadata;
    return { name, ...(namespace === undefined ? {} : { namespace }) };
  };
  const typed = (kind: Kind, object: unknown) => {
    const given = object as object;
    if ('kind' in given && 'apiVersion' in given) return given;
    return { kind: kind.kind, apiVersion: apiVersionOf(kind), ...given };
  };
  const deleteBody = ({ signal: _, dryRun, ...options }: DeleteOptions) => ({
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    ...options,
    ...(dryRun ? { dryRun: ['All'] } : {}),
  });

  return {
    transport,
    get: (kind, reference, { subresource, signal } = {}) =>
      send({ method: 'GET', path: pathOf(kind, reference, subresource), ...one, ...withSignal(signal) }),
    async list<K extends Kind>(kind: K, { namespace, signal, ...query }: ListOptions = {}) {
      const list = await send<List<ObjectOf<K>>>({
        method: 'GET',
        path: pathOf(kind, namespace === undefined ? {} : { namespace }),
        query,
        ...many,
        ...withSignal(signal),
      });
      // Servers written in Go encode an empty metadata-only list as null.
      return list?.items === null ? { ...list, items: [] } : list;
    },
    watch: <K extends Kind>(kind: K, { namespace, signal, ...query }: WatchOptions = {}) =>
      // A watch of a kind sends objects of that kind.
      transport.watch({
        method: 'GET',
        path: pathOf(kind, namespace === undefined ? {} : { namespace }),
        query: { ...query, watch: true },
        ...one,
        ...withSignal(signal),
      }) as AsyncIterable<WatchEvent<ObjectOf<K>>>,
    create(kind, object, options = {}) {
      const { namespace } = referenceOf(object);
      return send({
        method: 'POST',
        path: pathOf(kind, namespace === undefined ? {} : { namespace }),
        query: writeQuery(options),
        body: typed(kind, object),
        ...withSignal(options.signal),
      });
    },
    update: (kind, object, options = {}) =>
      send({
        method: 'PUT',
        path: pathOf(kind, referenceOf(object), options.subresource),
        query: writeQuery(options),
        body: typed(kind, object),
        ...withSignal(options.signal),
      }),
    patch: (kind, reference, patch, options) =>
      send({
        method: 'PATCH',
        path: pathOf(kind, reference, options.subresource),
        query: writeQuery(options),
        body: patch,
        contentType: patchTypes[options.type],
        ...one,
        ...withSignal(options.signal),
      }),
    apply: (kind, object, options) =>
      send({
        method: 'PATCH',
        path: pathOf(kind, referenceOf(object), options.subresource),
        query: { ...writeQuery(options), force: options.force },
        body: typed(kind, object),
        contentType: applyType,
        ...withSignal(options.signal),
      }),
    post: (kind, reference, subresource, body, options = {}) =>
      send({
        method: 'POST',
        path: pathOf(kind, reference, subresource.name),
        query: writeQuery(options),
        body: typed(subresource.kind, body),
        ...withSignal(options.signal),
      }),
    delete: (kind, reference, options = {}) =>
      send({
        method: 'DELETE',
        path: pathOf(kind, reference),
        body: deleteBody(options),
        ...withSignal(options.signal),
      }),
    async deleteCollection(kind, { namespace, signal, ...query }, options = {}) {
      await send({
        method: 'DELETE',
        path: pathOf(kind, namespace === undefined ? {} : { namespace }),
        query,
        body: deleteBody(options),
        ...withSignal(options.signal ?? signal),
      });
    },
  };
}

/** Returns a client on the same transport that marks its requests as background work. */
export function backgroundClient({ transport }: Client): Client {
  return createClient(transport, { isBackground: true });
}
