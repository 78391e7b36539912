import * as s from '@kruise/schema';
import { typeMeta } from './type-meta.ts';

export const serverAddressByClientCIDR = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR',
  'Address of the server for clients of a network.',
  {
    clientCIDR: s.required(1, s.string(), 'The network of the client.'),
    serverAddress: s.required(2, s.string(), 'Address of the server, as host or host:port.'),
  },
);
export type ServerAddressByClientCIDR = s.TypeOf<typeof serverAddressByClientCIDR>;

export const apiVersions = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions',
  'The versions of the core group.',
  {
    ...typeMeta,
    versions: s.required(1, s.atomicList(s.string()), 'The versions, such as v1.'),
    serverAddressByClientCIDRs: s.required(
      2,
      s.atomicList(serverAddressByClientCIDR),
      'Addresses of the server by network of the client; the longest match wins.',
    ),
  },
);
export type APIVersions = s.TypeOf<typeof apiVersions>;

export const groupVersionForDiscovery = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery',
  'A version of a group.',
  {
    groupVersion: s.required(1, s.string(), 'Group and version, such as apps/v1.'),
    version: s.required(2, s.string(), 'The version alone, such as v1.'),
  },
);
export type GroupVersionForDiscovery = s.TypeOf<typeof groupVersionForDiscovery>;

export const apiGroup = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup', 'An API group, and its versions.', {
  ...typeMeta,
  name: s.required(1, s.string(), 'Name of the subset.'),
  versions: s.required(2, s.atomicList(groupVersionForDiscovery), 'Versions of the group, the preferred one first.'),
  preferredVersion: s.optional(3, groupVersionForDiscovery, 'The version the server prefers, which clients best use.'),
  serverAddressByClientCIDRs: s.optional(
    4,
    s.atomicList(serverAddressByClientCIDR),
    'Addresses of the server by network of the client; the longest match wins.',
  ),
});
export type APIGroup = s.TypeOf<typeof apiGroup>;

export const apiGroupList = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList',
  'API groups other than the core group.',
  {
    ...typeMeta,
    groups: s.required(1, s.atomicList(apiGroup), 'The groups.'),
  },
);
export type APIGroupList = s.TypeOf<typeof apiGroupList>;

export const apiResource = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.APIResource',
  'A resource the server offers.',
  {
    name: s.required(1, s.string(), 'Plural name of the resource, used in paths; pods/log for a subresource.'),
    singularName: s.required(6, s.string(), 'Singular name of the resource, for display.'),
    namespaced: s.required(2, s.boolean(), 'Scope of the resource: true if its objects are in namespaces.'),
    group: s.optional(8, s.string(), 'API group of the objects, if it differs from that of the list.'),
    version: s.optional(9, s.string(), 'Version of the objects, if it differs from that of the list.'),
    kind: s.required(3, s.string(), 'Kind of its objects.'),
    verbs: s.required(
      4,
      s.list(s.string(), { goType: 'v1.Verbs', message: true }),
      'Verbs that the resource supports: get, list, watch, create, update, patch, delete, deletecollection.',
    ),
    shortNames: s.optional(5, s.atomicList(s.string()), 'Short names of the resource, for example po.'),
    categories: s.optional(7, s.atomicList(s.string()), 'Categories of the resource, for example all.'),
    storageVersionHash: s.optional(
      10,
      s.string(),
      'Hash of the storage version, which can be compared only for equality.',
    ),
  },
);
export type APIResource = s.TypeOf<typeof apiResource>;

export const apiResourceList = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList',
  'The resources of a version of a group.',
  {
    ...typeMeta,
    groupVersion: s.required(1, s.string(), 'Group and version, such as apps/v1.'),
    resources: s.required(2, s.atomicList(apiResource), 'The resources.'),
  },
);
export type APIResourceList = s.TypeOf<typeof apiResourceList>;
