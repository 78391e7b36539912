import * as s from '@kruise/schema';

/** What says which kind an object is; it has no protobuf fields, the envelope carries it. */
export const typeMeta = {
  kind: s.optional(s.string(), 'The kind of this object, in CamelCase. The endpoint implies it; it cannot be changed.'),
  apiVersion: s.optional(
    s.string(),
    'APIVersion defines the group and version of the schema this object is written in, such as apps/v1.',
  ),
};
