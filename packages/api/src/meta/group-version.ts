import * as s from '@kruise/schema';

export const groupVersionKind = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionKind',
  'A kind in a version of a group.',
  {
    group: s.required(1, s.string(), 'API group; empty for the core group.'),
    version: s.required(2, s.string(), 'Version of the group.'),
    kind: s.required(3, s.string(), 'The kind, such as Deployment.'),
  },
);
export type GroupVersionKind = s.TypeOf<typeof groupVersionKind>;

export const groupVersionResource = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionResource',
  'A resource in a version of a group.',
  {
    group: s.required(1, s.string(), 'API group; empty for the core group.'),
    version: s.required(2, s.string(), 'Version of the group.'),
    resource: s.required(3, s.string(), 'The resource, such as deployments.'),
  },
);
export type GroupVersionResource = s.TypeOf<typeof groupVersionResource>;
