import * as s from '@kruise/schema';
import { typeMeta } from './type-meta.ts';

export const serverAddressByClientCIDR = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR', '', {
  clientCIDR: s.required(1, s.string(), ''),
  serverAddress: s.required(2, s.string(), ''),
});
export type ServerAddressByClientCIDR = s.TypeOf<typeof serverAddressByClientCIDR>;

export const apiVersions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions', '', {
  ...typeMeta,
  versions: s.required(1, s.atomicList(s.string()), ''),
  serverAddressByClientCIDRs: s.required(2, s.atomicList(serverAddressByClientCIDR), ''),
});
export type APIVersions = s.TypeOf<typeof apiVersions>;

export const groupVersionForDiscovery = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery', '', {
  groupVersion: s.required(1, s.string(), ''),
  version: s.required(2, s.string(), ''),
});
export type GroupVersionForDiscovery = s.TypeOf<typeof groupVersionForDiscovery>;

export const apiGroup = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup', '', {
  ...typeMeta,
  name: s.required(1, s.string(), ''),
  versions: s.required(2, s.atomicList(groupVersionForDiscovery), ''),
  preferredVersion: s.optional(3, groupVersionForDiscovery, ''),
  serverAddressByClientCIDRs: s.optional(4, s.atomicList(serverAddressByClientCIDR), ''),
});
export type APIGroup = s.TypeOf<typeof apiGroup>;

export const apiGroupList = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList', '', {
  ...typeMeta,
  groups: s.required(1, s.atomicList(apiGroup), ''),
});
export type APIGroupList = s.TypeOf<typeof apiGroupList>;

export const apiResource = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.APIResource', '', {
  name: s.required(1, s.string(), ''),
  singularName: s.required(6, s.string(), ''),
  namespaced: s.required(2, s.boolean(), ''),
  group: s.optional(8, s.string(), ''),
  version: s.optional(9, s.string(), ''),
  kind: s.required(3, s.string(), ''),
  verbs: s.required(4, s.list(s.string(), { goType: 'v1.Verbs', message: true }), ''),
  shortNames: s.optional(5, s.atomicList(s.string()), ''),
  categories: s.optional(7, s.atomicList(s.string()), ''),
  storageVersionHash: s.optional(10, s.string(), ''),
});
export type APIResource = s.TypeOf<typeof apiResource>;

export const apiResourceList = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList', '', {
  ...typeMeta,
  groupVersion: s.required(1, s.string(), ''),
  resources: s.required(2, s.atomicList(apiResource), ''),
});
export type APIResourceList = s.TypeOf<typeof apiResourceList>;
