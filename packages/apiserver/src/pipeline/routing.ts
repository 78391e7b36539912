import { builtinKinds } from '@kruise/api/builtin';
import type { Kind } from '@kruise/schema/kind';
import { unknownPath, unknownResource, unsupportedMethod } from '../handlers/http-errors.ts';
import type { RequestInfo } from '../request-info.ts';
import { subresourceMetadataOf } from '../resources/subresource-metadata.ts';

/** Verbs of the paths of a resource. */
type Routes = {
  readonly isNamespaced: boolean;
  /** Verbs across all namespaces. */
  readonly across: readonly string[];
  readonly collection: readonly string[];
  readonly item: readonly string[];
  readonly subresources: ReadonlyMap<string, readonly string[]>;
};

const collectionVerbs = new Set(['list', 'watch', 'create', 'deletecollection']);
const itemVerbs = new Set(['get', 'watch', 'update', 'patch', 'delete']);

function routesOf(kind: Kind): Routes {
  return {
    isNamespaced: kind.scope === 'Namespaced',
    across: kind.verbs.filter((verb) => verb === 'list' || verb === 'watch'),
    collection: kind.verbs.filter((verb) => collectionVerbs.has(verb)),
    item: kind.verbs.filter((verb) => itemVerbs.has(verb)),
    subresources: new Map(subresourceMetadataOf(kind).map(({ name, verbs }) => [name, verbs])),
  };
}

function idOf({ group, version, plural }: Pick<Kind, 'group' | 'version' | 'plural'>): string {
  return `${group}/${version}/${plural}`;
}

const routes = new Map(builtinKinds.map((kind) => [idOf(kind), routesOf(kind)]));
const groups = new Set(builtinKinds.map(({ group }) => group));

/** Reports whether a group belongs to Kubernetes itself: unknown paths below such a group return a Status. */
export function isBuiltinGroup(group: string): boolean {
  return groups.has(group);
}

/**
 * Rejects requests without a route among the built-in resources: unknown paths, and unsupported methods. Custom
 * resources have their own routes.
 */
export function checkRoute(info: RequestInfo): void {
  const known = routes.get(idOf(info));
  if (!known) throw isBuiltinGroup(info.group) ? unknownResource() : unknownPath();
  const verbs = verbsAt(known, info);
  if (!verbs || verbs.length === 0) throw unknownResource();
  // Resources that can be listed have a watch route, even if they cannot be watched.
  if (verbs.includes(info.verb) || (info.verb === 'watch' && verbs.includes('list'))) return;
  throw unsupportedMethod(allowed(verbs));
}

function verbsAt(known: Routes, info: RequestInfo): readonly string[] | undefined {
  const { namespace, subresource, plural, verb, rest } = info;
  if (!known.isNamespaced && namespace !== '' && plural !== 'namespaces') return undefined;
  const isAcross = known.isNamespaced && namespace === '';
  // A collection request may select one object by name, so the name does not distinguish collections from objects.
  const isCollection = subresource === '' && (info.name === '' || collectionVerbs.has(verb)) && verb !== 'create';
  if (isCollection || info.name === '') return isAcross ? known.across : known.collection;
  if (isAcross) return undefined;
  if (subresource === '') return known.item;
  return rest.length > 0 && subresource !== 'proxy' ? undefined : known.subresources.get(subresource);
}

const methods: { readonly [verb: string]: string } = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
};

function allowed(verbs: readonly string[]): readonly string[] {
  return [...new Set(verbs.map((verb) => methods[verb]!))];
}
