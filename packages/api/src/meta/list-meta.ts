import * as s from '@kruise/schema';

export const listMeta = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta', 'Metadata of a list.', {
  selfLink: s.optional(1, s.string(), 'No longer written.'),
  resourceVersion: s.optional(
    2,
    s.string(),
    'The version of the list, to watch from. To be compared for equality only.',
  ),
  continue: s.optional(
    3,
    s.string(),
    'Continue token for the next page. Empty on the last page. Expires after some minutes.',
  ),
  remainingItemCount: s.pointer(
    4,
    s.int64(),
    'Estimated number of remaining objects, if it is known; never with selectors.',
  ),
});
export type ListMeta = s.TypeOf<typeof listMeta>;
