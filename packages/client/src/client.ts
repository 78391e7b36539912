import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { apiVersionOf } from '@kruise/schema/kind';
import type { ApiRequest, Transport, WatchEvent } from './transport.ts';

/** Which object of a kind. */
export type Reference = { readonly name: string; readonly namespace?: string };

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

export type WatchOptions = Omit<ListOptions, 'limit' | 'continue'> & {
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
};

export type WriteOptions = {
  readonly fieldManager?: string;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  readonly dryRun?: boolean;
  /** `status`, `scale`: write this part of the object rather than the object. */
  readonly subresource?: string;
  readonly signal?: AbortSignal;
};

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

/** Reads and writes the objects of a cluster. */
export interface Client {
  get<K extends Kind>(
    kind: K,
    reference: Reference,
    options?: { readonly subresource?: string; readonly signal?: AbortSignal },
  ): Promise<ObjectOf<K>>;
  list<K extends Kind>(kind: K, options?: ListOptions): Promise<List<ObjectOf<K>>>;
  watch<K extends Kind>(kind: K, options?: WatchOptions): AsyncIterable<WatchEvent<ObjectOf<K>>>;
  create<K extends Kind>(kind: K, object: Partial<ObjectOf<K>>, options?: WriteOptions): Promise<ObjectOf<K>>;
  update<K extends Kind>(kind: K, object: ObjectOf<K>, options?: WriteOptions): Promise<ObjectOf<K>>;
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
  delete<K extends Kind>(kind: K, reference: Reference, options?: DeleteOptions): Promise<unknown>;
  deleteMany<K extends Kind>(kind: K, selection: ListOptions, options?: DeleteOptions): Promise<void>;
  /** A request of any other sort. */
  readonly transport: Transport;
}

/** The path of a kind's objects, or of one of them. */
export function pathOf(kind: Kind, { name, namespace }: Partial<Reference>, subresource?: string): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const place = kind.scope === 'Namespaced' && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const one = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${root}${place}/${kind.plural}${one}${subresource ? `/${subresource}` : ''}`;
}

/** A client of whatever a transport reaches. */
export function createClient(transport: Transport): Client {
  async function send<T>(request: ApiRequest): Promise<T> {
    const { object } = await transport.request(request);
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
  const typed = (kind: Kind, object: unknown) => ({
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    ...(object as object),
  });
  const deleteBody = ({ signal: _, dryRun, ...options }: DeleteOptions) => ({
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    ...options,
    ...(dryRun ? { dryRun: ['All'] } : {}),
  });

  return {
    transport,
    get: (kind, reference, { subresource, signal } = {}) =>
      send({ method: 'GET', path: pathOf(kind, reference, subresource), ...withSignal(signal) }),
    list: (kind, { namespace, signal, ...query } = {}) =>
      send({
        method: 'GET',
        path: pathOf(kind, namespace === undefined ? {} : { namespace }),
        query,
        ...withSignal(signal),
      }),
    watch: <K extends Kind>(kind: K, { namespace, signal, ...query }: WatchOptions = {}) =>
      // What the server sends on a watch of a kind are objects of that kind.
      transport.watch({
        method: 'GET',
        path: pathOf(kind, namespace === undefined ? {} : { namespace }),
        query: { ...query, watch: true },
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
