import { builtinKinds } from '@kruise/api/builtin';
import type { Kind } from '@kruise/schema/kind';
import { noSuchPath, noSuchResource, wrongMethod } from './handlers/refusal.ts';
import type { RequestInfo } from './request.ts';
import { subresourceFactsOf } from './resources/subresource-facts.ts';

/** What can be done at the paths of a resource: the verbs of each. */
type Routes = {
  readonly isNamespaced: boolean;
  /** In all namespaces together. */
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
    subresources: new Map(subresourceFactsOf(kind).map(({ name, verbs }) => [name, verbs])),
  };
}

function idOf({ group, version, plural }: Pick<Kind, 'group' | 'version' | 'plural'>): string {
  return `${group}/${version}/${plural}`;
}

const routes = new Map(builtinKinds.map((kind) => [idOf(kind), routesOf(kind)]));
const groups = new Set(builtinKinds.map(({ group }) => group));

/** Whether a group is of Kubernetes itself: below one of these even what is missing is answered with a Status. */
export function isBuiltinGroup(group: string): boolean {
  return groups.has(group);
}

/**
 * Refuses what has no route among the built-in resources: paths that lead nowhere, and methods that a path does not
 * have. Custom resources have routes of their own.
 */
export function checkRoute(info: RequestInfo): void {
  const known = routes.get(idOf(info));
  if (!known) throw isBuiltinGroup(info.group) ? noSuchResource() : noSuchPath();
  const verbs = verbsAt(known, info);
  if (!verbs || verbs.length === 0) throw noSuchResource();
  // What is listed has the route of a watch, whether or not it can be watched.
  if (verbs.includes(info.verb) || (info.verb === 'watch' && verbs.includes('list'))) return;
  throw wrongMethod(allowed(verbs));
}

function verbsAt(known: Routes, info: RequestInfo): readonly string[] | undefined {
  const { namespace, subresource, plural, verb, rest } = info;
  if (!known.isNamespaced && namespace !== '' && plural !== 'namespaces') return undefined;
  const isAcross = known.isNamespaced && namespace === '';
  // A collection may be asked for one object by name, so that the name alone does not tell them apart.
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
