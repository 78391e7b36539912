import * as s from '@kruise/schema';
import { groupVersionKind } from '../meta/group-version.ts';
import { listMeta } from '../meta/list-meta.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { typeMeta } from '../meta/type-meta.ts';

export const apiSubresourceDiscovery = s.object('io.k8s.api.apidiscovery.v2.APISubresourceDiscovery', '', {
  subresource: s.required(1, s.string(), ''),
  responseKind: s.pointer(2, groupVersionKind, ''),
  acceptedTypes: s.optional(3, s.list(groupVersionKind), ''),
  verbs: s.required(4, s.list(s.string()), ''),
});
export type APISubresourceDiscovery = s.TypeOf<typeof apiSubresourceDiscovery>;

export const apiResourceDiscovery = s.object('io.k8s.api.apidiscovery.v2.APIResourceDiscovery', '', {
  resource: s.required(1, s.string(), ''),
  responseKind: s.pointer(2, groupVersionKind, ''),
  scope: s.required(3, s.string({ goType: 'v2.ResourceScope' }), ''),
  singularResource: s.required(4, s.string(), ''),
  verbs: s.required(5, s.list(s.string()), ''),
  shortNames: s.optional(6, s.list(s.string()), ''),
  categories: s.optional(7, s.list(s.string()), ''),
  subresources: s.optional(8, s.list(apiSubresourceDiscovery), ''),
});
export type APIResourceDiscovery = s.TypeOf<typeof apiResourceDiscovery>;

export const apiVersionDiscovery = s.object('io.k8s.api.apidiscovery.v2.APIVersionDiscovery', '', {
  version: s.required(1, s.string(), ''),
  resources: s.optional(2, s.list(apiResourceDiscovery), ''),
  freshness: s.optional(3, s.string({ goType: 'v2.DiscoveryFreshness' }), ''),
});
export type APIVersionDiscovery = s.TypeOf<typeof apiVersionDiscovery>;

export const apiGroupDiscovery = s.object('io.k8s.api.apidiscovery.v2.APIGroupDiscovery', '', {
  ...typeMeta,
  metadata: s.optional(1, objectMeta, ''),
  versions: s.optional(2, s.list(apiVersionDiscovery), ''),
});
export type APIGroupDiscovery = s.TypeOf<typeof apiGroupDiscovery>;

export const apiGroupDiscoveryList = s.object('io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList', '', {
  ...typeMeta,
  metadata: s.optional(1, listMeta, ''),
  items: s.required(2, s.list(apiGroupDiscovery), ''),
});
export type APIGroupDiscoveryList = s.TypeOf<typeof apiGroupDiscoveryList>;
