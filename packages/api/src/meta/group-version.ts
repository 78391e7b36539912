import * as s from '@kruise/schema';


export const groupVersionKind = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionKind', '', {
  group: s.required(1, s.string(), ''),
  version: s.required(2, s.string(), ''),
  kind: s.required(3, s.string(), ''),
});
export type GroupVersionKind = s.TypeOf<typeof groupVersionKind>;

export const groupVersionResource = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionResource', '', {
  group: s.required(1, s.string(), ''),
  version: s.required(2, s.string(), ''),
  resource: s.required(3, s.string(), ''),
});
export type GroupVersionResource = s.TypeOf<typeof groupVersionResource>;
