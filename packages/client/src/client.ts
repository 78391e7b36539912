import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { apiVersionOf } from '@kruise/schema/kind';
import type { ApiRequest, Transport, WatchEvent } from './transport.ts';

/** Which object of a kind. */
export type Reference = { readonly name: string; readonly namespace?: string };

/** Which objects, and how fresh. */
export type ListOptions = {
  /** Only this namespace; all of them where it is left out. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  readonly limit?: number;
  readonly continue?: string;
  readonly signal?: AbortSignal;
};

/** Which objects, from when on, and for how long. */
export type WatchOptions = Omit<ListOptions, 'limit' | 'continue'> & {
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
};

/** Who writes, how strictly it is read, and whether it is meant. */
export type WriteOptions = {
  readonly fieldManager?: string;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  readonly dryRun?: boolean;
  /** `status`, `scale`: write this part of the object rather than the object. */
  readonly subresource?: string;
  readonly signal?: AbortSignal;
};

/** How an object goes, and what becomes of those it owns. */
export type DeleteOptions = {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
};

/** A list of objects, and where it goes on if it was cut. */
export type List<T> = {
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
};

/** The kinds of patches. */
export type PatchType = 'json' | 'merge' | 'strategic';

const patchTypes: { readonly [T in PatchType]: string } = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};
const applyType = 'application/apply-patch+yaml';

type Object = { readonly metadata: ObjectMeta };

/** Reads and writes the objects of a cluster. Every refusal is thrown as a `StatusError`. */
export interface Client {
  /** One object. */
  get<K extends Kind>(
    kind: K,
    reference: Reference,
    options?: { readonly subresource?: string; readonly signal?: AbortSignal },
  ): Promise<ObjectOf<K>>;
  /** The objects of a selection, or as many of them as `limit` allows; `eachPage` goes on from there. */
  list<K extends Kind>(kind: K, options?: ListOptions): Promise<List<ObjectOf<K>>>;
  /** What becomes of the objects of a selection, from a revision on, until the server ends it or the signal is aborted. */
  watch<K extends Kind>(kind: K, options?: WatchOptions): AsyncIterable<WatchEvent<ObjectOf<K>>>;
  /** Stores an object that does not exist yet. */
  create<K extends Kind>(kind: K, object: Partial<ObjectOf<K>>, options?: WriteOptions): Promise<ObjectOf<K>>;
  /** Replaces an object; refused if it has a resourceVersion and someone else wrote meanwhile. */
  update<K extends Kind>(kind: K, object: ObjectOf<K>, options?: WriteOptions): Promise<ObjectOf<K>>;
  /** Changes some fields of an object. */
  patch<K extends Kind>(
    kind: K,
    reference: Reference,
    patch: unknown,
    options: WriteOptions & { readonly type: PatchType },
  ): Promise<ObjectOf<K>>;
  /** Server-side apply: these fields, and only these, are ours. */
  apply<K extends Kind>(
    kind: K,
    object: Partial<ObjectOf<K>>,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<ObjectOf<K>>;
  /** Sends something to a subresource that takes more than it is: an Eviction, a Binding, a TokenRequest. */
  post<K extends Kind, S extends Kind>(
    kind: K,
    reference: Reference,
    subresource: { readonly name: string; readonly kind: S },
    body: Partial<ObjectOf<S>>,
    options?: Omit<WriteOptions, 'subresource'>,
  ): Promise<ObjectOf<S>>;
  /** Deletes an object. The answer is what is left of it, or a Status once nothing is. */
  delete<K extends Kind>(kind: K, reference: Reference, options?: DeleteOptions): Promise<unknown>;
  /** Deletes all objects of a selection. */
  deleteMany<K extends Kind>(kind: K, selection: ListOptions, options?: DeleteOptions): Promise<void>;
  /** A request of any other sort. */
  readonly transport: Transport;
}

/** The path of a kind's objects, or of one of them. */
export function pathOf(kind: Kind, { name, namespace }: Partial<Reference>, subresource?: string): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const place = kind.scope === 'Namespaced' && namespace ? `/namespaces/${encoded(namespace)}` : '';
  const one = name === undefined ? '' : `/${encoded(name)}`;
  return `${root}${place}/${kind.plural}${one}${subresource ? `/${subresource}` : ''}`;
}

/** Nearly all names may stand in a path as they are, which is found out sooner than what would become of them. */
function encoded(name: string): string {
  return /^[\w.-]*$/.test(name) ? name : encodeURIComponent(name);
}

/** How a client reads, and how much its requests matter. */
export type ClientOptions = {
  /** Asks for no more of objects than their metadata; in one process, where nothing is sent, they come whole. */
  readonly metadataOnly?: boolean;
  /** Nobody waits for what comes of its requests: a server in the same process lets others go first. */
  readonly isBackground?: boolean;
};

/** A client of whatever a transport reaches. */
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
      // Servers in Go say null for no items, if only metadata is asked for.
      return list?.items === null ? { ...list, items: [] } : list;
    },
    watch: <K extends Kind>(kind: K, { namespace, signal, ...query }: WatchOptions = {}) =>
      // What the server sends on a watch of a kind are objects of that kind.
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
    async deleteMany(kind, { namespace, signal, ...query }, options = {}) {
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

/** The same client, for what nobody waits for. */
export function inBackground({ transport }: Client): Client {
  return createClient(transport, { isBackground: true });
}
