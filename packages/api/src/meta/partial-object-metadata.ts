import * as s from '@kruise/schema';
import { listMeta } from './list-meta.ts';
import { objectMeta } from './object-meta.ts';
import { typeMeta } from './type-meta.ts';

export const partialObjectMetadata = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata', '', {
  ...typeMeta,
  metadata: s.optional(1, objectMeta, ''),
});
export type PartialObjectMetadata = s.TypeOf<typeof partialObjectMetadata>;

export const partialObjectMetadataList = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList', '', {
  ...typeMeta,
  metadata: s.optional(1, listMeta, ''),
  items: s.required(2, s.list(partialObjectMetadata), ''),
});
export type PartialObjectMetadataList = s.TypeOf<typeof partialObjectMetadataList>;
