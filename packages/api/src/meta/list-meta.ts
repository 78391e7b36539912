import * as s from '@kruise/schema';


export const listMeta = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta', '', {
  selfLink: s.optional(1, s.string(), ''),
  resourceVersion: s.optional(2, s.string(), ''),
  continue: s.optional(3, s.string(), ''),
  remainingItemCount: s.pointer(4, s.int64(), ''),
});
export type ListMeta = s.TypeOf<typeof listMeta>;
