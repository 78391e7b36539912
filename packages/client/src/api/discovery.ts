/**
 * API discovery: the kinds that a server serves, including kinds that are unknown at compile time, such as custom
 * resources.
 */
import type { APIGroupDiscoveryList, APIResourceDiscovery } from '@kruise/api/apidiscovery/apigroupdiscovery';
import type { APIGroupList, APIResourceList, APIVersions } from '@kruise/api/meta/discovery';
import { apiVersionOf, resourceOf } from '@kruise/schema/kind';
import type { Client } from './client.ts';
import { type DynamicKind, dynamicKind } from './dynamic-kind.ts';

/** Result of API discovery; partial if a group version failed. */
export type Discovery = {
  /** All kinds in all their versions; for each kind the version that the server prefers comes first. */
  readonly kinds: readonly DynamicKind[];
  /** Group versions whose discovery failed, for example because an aggregated API server is unavailable. */
  readonly failures: readonly DiscoveryFailure[];
};

/** A group version whose discovery failed. */
export type DiscoveryFailure = { readonly groupVersion: string; readonly message: string };

type GroupVersion = { readonly group: string; readonly version: string };
type DiscoveryDocument = APIGroupDiscoveryList | APIVersions | APIGroupList;

const aggregatedDiscoveryMediaType =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/**
 * Discovers the kinds that a server serves. Throws only if the server itself is unreachable.
 *
 * ```ts
 * const { kinds } = await discover(client);
 * preferredKinds(kinds).filter(({ scope }) => scope === 'Namespaced');
 * ```
 */
export async function discover(client: Client, options: { readonly signal?: AbortSignal } = {}): Promise<Discovery> {
  const fetchDocument = async (path: string): Promise<unknown> => {
    const request = { method: 'GET', path, accept: aggregatedDiscoveryMediaType, ...options } as const;
    return (await client.transport.request(request)).object;
  };
  // Depending on its version, a server answers these paths with one of three documents.
  const documents = (await Promise.all([
    fetchDocument('/api'),
    fetchDocument('/apis'),
  ])) as readonly DiscoveryDocument[];
  const parts = await Promise.all(
    documents.map((document) =>
      document.kind === 'APIGroupDiscoveryList'
        ? readAggregatedDiscovery(document as APIGroupDiscoveryList)
        : fetchEachGroupVersion(fetchDocument, groupVersionsOf(document as APIVersions | APIGroupList)),
    ),
  );
  return {
    kinds: parts.flatMap(({ kinds }) => kinds),
    failures: parts.flatMap(({ failures }) => failures),
  };
}

/** Returns each kind once, in the version that the server prefers. */
export function preferredKinds(kinds: readonly DynamicKind[]): readonly DynamicKind[] {
  const preferred = new Map<string, DynamicKind>();
  for (const kind of kinds) {
    const id = resourceOf(kind);
    if (!preferred.has(id)) preferred.set(id, kind);
  }
  return [...preferred.values()];
}

function readAggregatedDiscovery({ items }: APIGroupDiscoveryList): Discovery {
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

/** Reads one group version after the other: servers before v1.30 do not have aggregated discovery. */
async function fetchEachGroupVersion(
  fetchDocument: (path: string) => Promise<unknown>,
  groupVersions: readonly GroupVersion[],
): Promise<Discovery> {
  const kinds: DynamicKind[] = [];
  const failures: DiscoveryFailure[] = [];
  const answers = await Promise.allSettled(
    groupVersions.map(({ group, version }) =>
      fetchDocument(group === '' ? `/api/${version}` : `/apis/${group}/${version}`),
    ),
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
