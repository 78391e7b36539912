import * as s from '@kruise/schema';

export const listMeta = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta', 'What every list has.', {
  selfLink: s.optional(1, s.string(), 'No longer written.'),
  resourceVersion: s.optional(
    2,
    s.string(),
    'The version of the list, to watch from. To be compared for equality only.',
  ),
  continue: s.optional(
    3,
    s.string(),
    'What to ask with for the rest. Empty if this is all. Good for some minutes only.',
  ),
  remainingItemCount: s.pointer(
    4,
    s.int64(),
    'How many objects are left, if that is known; never with selectors. An estimate.',
  ),
});
export type ListMeta = s.TypeOf<typeof listMeta>;
