/**
 * What a server serves, asked of the server itself: the way to kinds that a program does not know, those that users
 * define among them.
 */
import type { APIGroupDiscoveryList, APIResourceDiscovery } from '@kruise/api/apidiscovery/apigroupdiscovery';
import type { APIGroupList, APIResourceList, APIVersions } from '@kruise/api/meta/discovery';
import { apiVersionOf, resourceOf } from '@kruise/schema/kind';
import type { Client } from './client.ts';
import { type DynamicKind, dynamicKind } from './dynamic-kind.ts';

/** What is served, as far as it could be found out. */
export type Discovery = {
  /** Every kind in each of its versions; of one kind, the version the server prefers comes first. */
  readonly kinds: readonly DynamicKind[];
  /** The groups and versions that are there, but would not tell what is in them: a server behind the server is gone, say. */
  readonly failures: readonly DiscoveryFailure[];
};

/** A group and version nothing is known of for now. */
export type DiscoveryFailure = { readonly groupVersion: string; readonly message: string };

type GroupVersion = { readonly group: string; readonly version: string };
type Told = APIGroupDiscoveryList | APIVersions | APIGroupList;

const everythingAtOnce = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/**
 * Asks a server what it serves. Fails only if the server cannot be asked at all.
 *
 * ```ts
 * const { kinds } = await discover(client);
 * preferredKinds(kinds).filter(({ scope }) => scope === 'Namespaced');
 * ```
 */
export async function discover(client: Client, options: { readonly signal?: AbortSignal } = {}): Promise<Discovery> {
  const ask = async (path: string): Promise<unknown> => {
    const request = { method: 'GET', path, accept: everythingAtOnce, ...options } as const;
    return (await client.transport.request(request)).object;
  };
  // A server answers these paths with one of three documents.
  const told = (await Promise.all([ask('/api'), ask('/apis')])) as readonly Told[];
  const parts = await Promise.all(
    told.map((document) =>
      document.kind === 'APIGroupDiscoveryList'
        ? readAtOnce(document as APIGroupDiscoveryList)
        : askEach(ask, groupVersionsOf(document as APIVersions | APIGroupList)),
    ),
  );
  return {
    kinds: parts.flatMap(({ kinds }) => kinds),
    failures: parts.flatMap(({ failures }) => failures),
  };
}

/** Each kind once, in the version the server prefers for it. */
export function preferredKinds(kinds: readonly DynamicKind[]): readonly DynamicKind[] {
  const preferred = new Map<string, DynamicKind>();
  for (const kind of kinds) {
    const id = resourceOf(kind);
    if (!preferred.has(id)) preferred.set(id, kind);
  }
  return [...preferred.values()];
}

function readAtOnce({ items }: APIGroupDiscoveryList): Discovery {
  const kinds: DynamicKind[] = [];
  const failures: DiscoveryFailure[] = [];
  for (const { metadata, versions = [] } of items) {
    const group = metadata?.name ?? '';
    for (const { version, resources = [], freshness } of versions) {
      if (freshness === 'Stale') {
        const groupVersion = apiVersionOf({ group, version });
        failures.push({ groupVersion, message: `stale GroupVersion discovery: ${groupVersion}` });
        continue;
      }
      for (const resource of resources) {
        if (resource.responseKind) kinds.push(kindOf({ group, version }, resource));
      }
    }
  }
  return { kinds, failures };
}

function kindOf({ group, version }: GroupVersion, resource: APIResourceDiscovery): DynamicKind {
  return dynamicKind({
    group,
    version,
    kind: resource.responseKind?.kind ?? '',
    plural: resource.resource,
    scope: resource.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
    verbs: resource.verbs,
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    subresources: resource.subresources?.map(({ subresource }) => subresource) ?? [],
  });
}

function groupVersionsOf(document: APIVersions | APIGroupList): readonly GroupVersion[] {
  if ('versions' in document) return document.versions.map((version) => ({ group: '', version }));
  return document.groups.flatMap(({ name, versions, preferredVersion }) =>
    versions
      .map(({ version }) => ({ group: name, version }))
      .sort(
        (a, b) => Number(b.version === preferredVersion?.version) - Number(a.version === preferredVersion?.version),
      ),
  );
}

/** Servers before v1.30 are asked for one version of one group after the other. */
async function askEach(
  ask: (path: string) => Promise<unknown>,
  groupVersions: readonly GroupVersion[],
): Promise<Discovery> {
  const kinds: DynamicKind[] = [];
  const failures: DiscoveryFailure[] = [];
  const answers = await Promise.allSettled(
    groupVersions.map(({ group, version }) => ask(group === '' ? `/api/${version}` : `/apis/${group}/${version}`)),
  );
  for (const [index, answer] of answers.entries()) {
    const groupVersion = groupVersions[index]!;
    if (answer.status === 'rejected') {
      failures.push({ groupVersion: apiVersionOf(groupVersion), message: String(answer.reason) });
      continue;
    }
    const { resources } = answer.value as APIResourceList;
    for (const { name, kind, namespaced, verbs, shortNames = [], categories = [] } of resources) {
      if (name.includes('/')) continue;
      const subresources = resources
        .filter((each) => each.name.startsWith(`${name}/`))
        .map((each) => each.name.slice(name.length + 1));
      const scope = namespaced ? 'Namespaced' : 'Cluster';
      kinds.push(
        dynamicKind({ ...groupVersion, kind, plural: name, scope, verbs, shortNames, categories, subresources }),
      );
    }
  }
  return { kinds, failures };
}
