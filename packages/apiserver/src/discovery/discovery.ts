import { createHash } from 'node:crypto';
import { builtinKinds } from '@kruise/api/builtin';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import type { ResourceRegistry } from '../registry.ts';
import type { Resource } from '../resource.ts';
import { type SubresourceMetadata, subresourceMetadataOf } from '../resources/subresource-metadata.ts';
import { compareVersions, groupPriority, versionPriority } from './priority.ts';

/** Resource in discovery. */
export type DiscoveredResource = {
  readonly kind: Kind;
  readonly custom: boolean;
  /** Supported verbs; a terminating resource does not support creates. */
  readonly verbs: readonly string[];
  /** Storage version; absent if nothing is stored. */
  readonly storageVersion?: string;
  readonly subresources: readonly SubresourceMetadata[];
};

export type DiscoveredVersion = {
  readonly version: string;
  readonly resources: readonly DiscoveredResource[];
  /** Set if an aggregated server serves the version. */
  readonly remote?: RemoteVersion;
};

/** Group version that an aggregated server serves. */
export type RemoteVersion = {
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  readonly isAvailable: boolean;
  /** Resources in the form of aggregated discovery, if the server has returned them. */
  readonly resources: readonly unknown[] | undefined;
};

export type DiscoveredGroup = { readonly group: string; readonly versions: readonly DiscoveredVersion[] };

/** Returns the discovery entry of a built-in kind. */
export function discoveryEntry(kind: Kind): DiscoveredResource {
  const stored = kind.verbs.includes('watch');
  return {
    kind,
    custom: false,
    verbs: kind.verbs,
    subresources: subresourceMetadataOf(kind),
    ...(stored ? { storageVersion: storageVersions[`${kind.plural}.${kind.group}`] ?? apiVersionOf(kind) } : {}),
  };
}

/** Yields all resources that this server itself serves. */
export function* localResources(resources: Pick<ResourceRegistry, 'find' | 'all'>): Generator<DiscoveredResource> {
  for (const kind of builtinKinds) yield discoveryEntry(kind);
  for (const resource of resources.all()) {
    if (resource.custom) yield customDiscoveryEntry(resources, resource);
  }
}

/** Verbs of a terminating custom resource. */
const lastVerbs = ['delete', 'deletecollection', 'get', 'list', 'watch'];

/** Returns the discovery entry of a version of a custom resource. */
export function customDiscoveryEntry(
  resources: Pick<ResourceRegistry, 'find'>,
  { kind, conversion, terminating }: Resource,
): DiscoveredResource {
  const { group, plural } = kind;
  const { storageVersion } = conversion;
  return {
    kind,
    custom: true,
    verbs: terminating ? lastVerbs : kind.verbs,
    subresources: subresourceMetadataOf(kind),
    ...(resources.find(group, storageVersion, plural) ? { storageVersion: `${group}/${storageVersion}` } : {}),
  };
}

/** Storage versions of resources that several groups or versions serve. */
const storageVersions: { readonly [resource: string]: string } = {
  'events.events.k8s.io': 'v1',
  'horizontalpodautoscalers.autoscaling': 'autoscaling/v2',
  // Clients compare the hashes, which use Kubernetes' storage versions.
  'ipaddresses.networking.k8s.io': 'networking.k8s.io/v1beta1',
  'servicecidrs.networking.k8s.io': 'networking.k8s.io/v1beta1',
  'customresourcedefinitions.apiextensions.k8s.io': 'apiextensions.k8s.io/v1beta1',
};

/** Returns all group versions, local and aggregated, in discovery order. */
export function groupsOf(
  resources: Iterable<DiscoveredResource>,
  remotes: readonly RemoteVersion[] = [],
): readonly DiscoveredGroup[] {
  const groups = new Map<string, Map<string, DiscoveredVersion>>();
  const versionsOf = (group: string): Map<string, DiscoveredVersion> => {
    const versions = groups.get(group) ?? new Map<string, DiscoveredVersion>();
    groups.set(group, versions);
    return versions;
  };
  for (const resource of resources) {
    const { group, version } = resource.kind;
    const versions = versionsOf(group);
    versions.set(version, { version, resources: [...(versions.get(version)?.resources ?? []), resource] });
  }
  for (const remote of remotes) {
    const versions = versionsOf(remote.group);
    if (!versions.has(remote.version)) versions.set(remote.version, { version: remote.version, resources: [], remote });
  }
  return [...groups]
    .map(([group, versions]) => ({
      group,
      versions: [...versions.values()]
        .map((version) => ({ ...version, resources: version.resources.toSorted(byPlural) }))
        .sort((a, b) => versionRank(group, b) - versionRank(group, a) || compareVersions(a.version, b.version)),
    }))
    .sort((a, b) => groupRank(b) - groupRank(a) || (a.group < b.group ? -1 : 1));
}

function byPlural(a: DiscoveredResource, b: DiscoveredResource): number {
  return a.kind.plural < b.kind.plural ? -1 : 1;
}

function versionRank(group: string, { version, remote }: DiscoveredVersion): number {
  return remote?.versionPriority ?? versionPriority(group, version);
}

function groupRank({ group, versions }: DiscoveredGroup): number {
  return Math.max(...versions.map(({ remote }) => remote?.groupPriority ?? groupPriority(group)));
}

function storageVersionHash(resource: DiscoveredResource): string | undefined {
  if (resource.storageVersion === undefined) return undefined;
  const [version, group = ''] = resource.storageVersion.split('/').reverse();
  const id = `${group}/${version}/${resource.kind.kind}`;
  return createHash('sha256').update(id).digest().subarray(0, 8).toString('base64');
}

/** Returns the APIResourceList of a group version: `/api/v1`, `/apis/apps/v1`. */
export function resourceList(group: string, { version, resources }: DiscoveredVersion): unknown {
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version }),
    resources: resources.flatMap((resource) => [
      listed(resource),
      ...resource.subresources.map((subresource) => ({
        name: `${resource.kind.plural}/${subresource.name}`,
        singularName: '',
        namespaced: resource.kind.scope === 'Namespaced',
        ...(subresource.group === undefined ? {} : { group: subresource.group }),
        ...(subresource.version === undefined ? {} : { version: subresource.version }),
        kind: subresource.kind,
        verbs: subresource.verbs,
      })),
    ]),
  };
}

function listed(resource: DiscoveredResource): unknown {
  const { kind, verbs } = resource;
  const hash = storageVersionHash(resource);
  return {
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.scope === 'Namespaced',
    kind: kind.kind,
    verbs,
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
    ...(hash === undefined ? {} : { storageVersionHash: hash }),
  };
}

/** Returns an APIGroup of `/apis`. */
export function apiGroup({ group, versions }: DiscoveredGroup, isSingle: boolean): unknown {
  const named = versions.map(({ version }) => ({ groupVersion: apiVersionOf({ group, version }), version }));
  return {
    ...(isSingle ? { kind: 'APIGroup', apiVersion: 'v1' } : {}),
    name: group,
    versions: named,
    preferredVersion: named[0],
  };
}

/** Returns the versions of a group that are currently available. */
export function reachable({ group, versions }: DiscoveredGroup): DiscoveredGroup {
  return { group, versions: versions.filter(({ remote }) => remote === undefined || remote.isAvailable) };
}

/** Returns the APIGroupList: `/apis`. */
export function apiGroupList(groups: readonly DiscoveredGroup[]): unknown {
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups
      .map(reachable)
      .filter(({ group, versions }) => group !== '' && versions.length > 0)
      .map((group) => apiGroup(group, false)),
  };
}

/** Returns the APIVersions: `/api`. */
export function apiVersions(serverAddress: string): unknown {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** Returns the aggregated discovery document of `/api` or `/apis`. */
export function aggregatedDiscovery(groups: readonly DiscoveredGroup[], core: boolean): unknown {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups
      .filter(({ group }) => (group === '') === core)
      .map(({ group, versions }) => ({
        metadata: { ...(group === '' ? {} : { name: group }), creationTimestamp: null },
        versions: versions.map(({ version, resources, remote }) => ({
          version,
          resources: remote ? (remote.resources ?? []) : resources.map(aggregated),
          freshness: remote && !remote.isAvailable ? 'Stale' : 'Current',
        })),
      })),
  };
}

function aggregated({ kind, custom, verbs, subresources }: DiscoveredResource): unknown {
  const here = custom ? { group: kind.group, version: kind.version } : { group: '', version: '' };
  return {
    resource: kind.plural,
    responseKind: { ...here, kind: kind.kind },
    scope: kind.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs,
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map((subresource) => ({
            subresource: subresource.name,
            responseKind: {
              group: subresource.group ?? here.group,
              version: subresource.version ?? here.version,
              kind: subresource.kind,
            },
            verbs: subresource.verbs,
          })),
        }),
  };
}
