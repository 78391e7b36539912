import * as s from '@kruise/schema';
import { listMeta } from './list-meta.ts';
import { objectMeta } from './object-meta.ts';
import { typeMeta } from './type-meta.ts';

export const partialObjectMetadata = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata',
  'Any object, reduced to its metadata.',
  {
    ...typeMeta,
    metadata: s.optional(1, objectMeta, 'The metadata of the object.'),
  },
);
export type PartialObjectMetadata = s.TypeOf<typeof partialObjectMetadata>;

export const partialObjectMetadataList = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList',
  'Any objects, reduced to their metadata.',
  {
    ...typeMeta,
    metadata: s.optional(1, listMeta, 'The metadata of the list.'),
    items: s.required(2, s.list(partialObjectMetadata), 'The objects.'),
  },
);
export type PartialObjectMetadataList = s.TypeOf<typeof partialObjectMetadataList>;
