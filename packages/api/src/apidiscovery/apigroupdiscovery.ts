import * as s from '@kruise/schema';
import { groupVersionKind } from '../meta/group-version.ts';
import { listMeta } from '../meta/list-meta.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { typeMeta } from '../meta/type-meta.ts';

export const apiSubresourceDiscovery = s.object(
  'io.k8s.api.apidiscovery.v2.APISubresourceDiscovery',
  'A subresource the server offers.',
  {
    subresource: s.required(1, s.string(), 'Name of the subresource, for example status.'),
    responseKind: s.pointer(2, groupVersionKind, 'Kind of the responses. Can differ from the kind of the resource.'),
    acceptedTypes: s.optional(3, s.list(groupVersionKind), 'Accepted kinds, if there are several.'),
    verbs: s.required(4, s.list(s.string()), 'Verbs that the subresource supports, for example get and patch.'),
  },
);
export type APISubresourceDiscovery = s.TypeOf<typeof apiSubresourceDiscovery>;

export const apiResourceDiscovery = s.object(
  'io.k8s.api.apidiscovery.v2.APIResourceDiscovery',
  'A resource the server offers.',
  {
    resource: s.required(1, s.string(), 'Plural name of the resource, used in paths.'),
    responseKind: s.pointer(2, groupVersionKind, 'Kind of its objects.'),
    scope: s.required(3, s.string({ goType: 'v2.ResourceScope' }), 'Cluster or Namespaced.'),
    singularResource: s.required(4, s.string(), 'Singular name of the resource.'),
    verbs: s.required(
      5,
      s.list(s.string()),
      'Verbs that the resource supports: get, list, watch, create, update, patch, delete, deletecollection.',
    ),
    shortNames: s.optional(6, s.list(s.string()), 'Short names of the resource, for example po.'),
    categories: s.optional(7, s.list(s.string()), 'Categories of the resource, for example all.'),
    subresources: s.optional(8, s.list(apiSubresourceDiscovery), 'Subresources of the resource.'),
  },
);
export type APIResourceDiscovery = s.TypeOf<typeof apiResourceDiscovery>;

export const apiVersionDiscovery = s.object('io.k8s.api.apidiscovery.v2.APIVersionDiscovery', 'A version of a group.', {
  version: s.required(1, s.string(), 'Name of the version, such as v1.'),
  resources: s.optional(2, s.list(apiResourceDiscovery), 'Resources of the version.'),
  freshness: s.optional(
    3,
    s.string({ goType: 'v2.DiscoveryFreshness' }),
    'Freshness: Current, or Stale if the server was not reachable recently.',
  ),
});
export type APIVersionDiscovery = s.TypeOf<typeof apiVersionDiscovery>;

export const apiGroupDiscovery = s.object(
  'io.k8s.api.apidiscovery.v2.APIGroupDiscovery',
  'API group with its versions and resources.',
  {
    ...typeMeta,
    metadata: s.optional(1, objectMeta, 'Metadata; the name is that of the group, and empty for the core group.'),
    versions: s.optional(2, s.list(apiVersionDiscovery), 'Versions of the group, the preferred one first.'),
  },
);
export type APIGroupDiscovery = s.TypeOf<typeof apiGroupDiscovery>;

export const apiGroupDiscoveryList = s.object(
  'io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList',
  'API groups with their versions and resources.',
  {
    ...typeMeta,
    metadata: s.optional(1, listMeta, 'The metadata of the list.'),
    items: s.required(2, s.list(apiGroupDiscovery), 'The groups.'),
  },
);
export type APIGroupDiscoveryList = s.TypeOf<typeof apiGroupDiscoveryList>;
