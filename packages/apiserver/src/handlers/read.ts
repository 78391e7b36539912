import { badRequest, expired, notFound, tooLargeResourceVersion, unclassified } from '@kruise/machinery/status';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { Cached, KubeObject } from '../object.ts';
import type { Found, Resource } from '../resource.ts';
import { CompactedError, FutureRevisionError } from '../store/store.ts';
import { decodeContinueToken, encodeContinueToken } from './continue-token.ts';
import { type ListOptions, parseListVersion, parseVersion } from './list-options.ts';
import { type Selection, selectionOf } from './selection.ts';

/** Result of a list: items in the requested version, and the continue token. */
export type Listed = {
  readonly items: readonly Found[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
};

/** Reads one object. */
export async function readOne(core: Core, context: RequestContext, resource: Resource): Promise<Found> {
  const version = context.query.get('resourceVersion') ?? '';
  if (version === '') await core.feed.waitForCurrent();
  else if (version !== '0') await core.feed.waitForRevision(parseVersion(version));
  const { namespace, name } = context.info;
  const cached = resource.storage.cache.get(keyOf(resource, namespace, name));
  if (!cached) throw notFound(resource.kind, name);
  return { cached, object: await inVersion(resource, cached) };
}

/** Returns the key of an object; the namespace is ignored for cluster-scoped kinds. */
export function keyOf(resource: Resource, namespace: string, name: string): string {
  return resource.storage.keyOf(resource.kind.scope === 'Namespaced' ? namespace : undefined, name);
}

/** Converts a stored object to the version of a resource. */
export function inVersion(resource: Resource, cached: Cached): KubeObject | Promise<KubeObject> {
  return resource.conversion.fromStorage(cached.object);
}

/** Returns the key prefix of a list: one namespace, or all namespaces. */
export function collectionPrefix(resource: Resource, namespace: string): string {
  const { prefix } = resource.storage;
  return namespace !== '' && resource.kind.scope === 'Namespaced' ? `${prefix}${namespace}/` : prefix;
}

/** Lists objects, from the cache if it has the requested revision, else from the store's history. */
export async function readMany(
  core: Core,
  context: RequestContext,
  resource: Resource,
  options: ListOptions,
): Promise<Listed> {
  const selection = selectionOf(resource, options);
  const keyPrefix = collectionPrefix(resource, context.info.namespace);
  const token = options.continue === '' ? undefined : decodeContinueToken(options.continue);
  if (token && options.resourceVersion !== '' && options.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const wanted = options.resourceVersion === '' ? undefined : parseListVersion(options.resourceVersion);
  const exact = exactRevision(options, wanted, token?.revision);
  // Kubernetes serves a list with resourceVersion 0 from its cache, without a limit.
  const limit = options.resourceVersion === '0' && !token ? 0 : Math.max(0, options.limit);

  if (exact === undefined) {
    if (wanted === undefined || wanted === 0) {
      if (wanted === undefined || token) await core.feed.waitForCurrent();
    } else await core.feed.waitForRevision(wanted);
  } else if (exact > core.feed.revision) {
    await core.feed.waitForCurrent();
    if (exact > core.feed.revision) {
      if (options.resourceVersionMatch === 'Exact') throw unclassified(futureRevision);
      throw tooLargeResourceVersion(exact, core.feed.revision);
    }
  }

  const start = token ? keyPrefix + token.start : undefined;
  // The revision is read together with the cache: both may advance while objects are converted.
  const revision = exact ?? core.feed.revision;
  const page =
    exact !== undefined && (resource.storage.cache.changedAt > exact || exact < core.oldestRevision())
      ? await fromPast(resource, { keyPrefix, start, limit, revision: exact, selection })
      : await fromMemory(resource, { keyPrefix, start, limit, selection });
  const items: Found[] = [];
  await resource.conversion.prepare?.(page.items.map(({ object }) => object));
  for (const cached of page.items) {
    const object = resource.conversion.fromStorage(cached.object);
    items.push({ cached, object: object instanceof Promise ? await object : object });
  }
  return {
    items,
    metadata: {
      resourceVersion: String(revision),
      ...(page.next === undefined
        ? {}
        : {
            continue: encodeContinueToken({ revision, start: page.next.slice(keyPrefix.length) }),
            ...(selection.selectsAll ? { remainingItemCount: page.remaining } : {}),
          }),
    },
  };
}

/** Error text of etcd, which Kubernetes returns as is. */
const futureRevision = 'etcdserver: mvcc: required revision is a future revision';

/** Returns the exact revision of a list; undefined for the newest. */
function exactRevision(
  options: ListOptions,
  wanted: number | undefined,
  continued: number | undefined,
): number | undefined {
  if (continued !== undefined) return continued > 0 ? continued : undefined;
  if (wanted === undefined || wanted === 0) return undefined;
  if (options.resourceVersionMatch === 'Exact') return wanted;
  // Legacy rule: a limit with a resourceVersion and without resourceVersionMatch means Exact.
  return options.resourceVersionMatch === '' && options.limit > 0 ? wanted : undefined;
}

type ListPage = {
  readonly items: readonly Cached[];
  /** Start key of the next page. */
  readonly next?: string;
  readonly remaining: number;
};
type PageRequest = {
  readonly keyPrefix: string;
  readonly start: string | undefined;
  readonly limit: number;
  readonly selection: Selection;
};

async function fromMemory(resource: Resource, { keyPrefix, start, limit, selection }: PageRequest): Promise<ListPage> {
  const all = resource.storage.cache.list({ keyPrefix, ...(start === undefined ? {} : { start }) });
  await prepareSelection(resource, selection, all);
  return cutPage(all, limit, selection);
}

async function prepareSelection(
  { conversion }: Resource,
  { needsConversion }: Selection,
  all: readonly Cached[],
): Promise<void> {
  if (needsConversion) await conversion.prepare?.(all.map(({ object }) => object));
}

/** Cuts a page. A selector does not shorten a page: it is filled with later matching objects. */
function cutPage(all: readonly Cached[], limit: number, { selectsAll, matches }: Selection): ListPage {
  if (limit === 0) return { items: selectsAll ? all : all.filter(({ object }) => matches(object)), remaining: 0 };
  const items: Cached[] = [];
  for (const [index, cached] of all.entries()) {
    if (items.length === limit) return { items, next: `${items.at(-1)!.key}\0`, remaining: all.length - index };
    if (selectsAll || matches(cached.object)) items.push(cached);
  }
  return { items, remaining: 0 };
}

async function fromPast(
  resource: Resource,
  { keyPrefix, start, limit, selection, revision }: PageRequest & { readonly revision: number },
): Promise<ListPage> {
  try {
    // Selectors are applied after reading, so a full page may require reading more objects than the limit.
    const readLimit = limit > 0 && selection.selectsAll ? { limit } : {};
    const past = await resource.storage.past({
      keyPrefix,
      revision,
      ...readLimit,
      ...(start === undefined ? {} : { start }),
    });
    await prepareSelection(resource, selection, past.items);
    if (!selection.selectsAll) return cutPage(past.items, limit, selection);
    if (!past.more) return { items: past.items, remaining: 0 };
    return { items: past.items, next: `${past.items.at(-1)!.key}\0`, remaining: past.count - past.items.length };
  } catch (error) {
    if (error instanceof FutureRevisionError) throw unclassified(futureRevision);
    if (!(error instanceof CompactedError)) throw error;
    if (start === undefined) throw expired('The resourceVersion for the provided list is too old.');
    throw expiredToken(start.slice(keyPrefix.length));
  }
}

function expiredToken(start: string): Error {
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
  const metadata = { continue: encodeContinueToken({ revision: -1, start }) };
  return Object.assign(error, { status: { ...error.status, metadata } });
}
