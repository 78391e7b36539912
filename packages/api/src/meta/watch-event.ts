import * as s from '@kruise/schema';

export const watchEvent = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent',
  'A change of an object, as a watch sends it.',
  {
    type: s.required(1, s.string(), 'ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.'),
    object: s.required(
      2,
      s.rawExtension(),
      'The object after the change, or before it if it was deleted; a Status for ERROR.',
    ),
  },
);
export type WatchEvent = s.TypeOf<typeof watchEvent>;
