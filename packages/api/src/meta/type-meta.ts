import * as s from '@kruise/schema';

/** kind and apiVersion. They have no protobuf fields, because the envelope carries them. */
export const typeMeta = {
  kind: s.optional(s.string(), 'The kind of this object, in CamelCase. The endpoint implies it; it cannot be changed.'),
  apiVersion: s.optional(
    s.string(),
    'APIVersion defines the group and version of the schema this object is written in, such as apps/v1.',
  ),
};
