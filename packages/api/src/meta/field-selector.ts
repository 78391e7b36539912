import * as s from '@kruise/schema';

export const fieldSelectorRequirement = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement',
  'A demand on a field.',
  {
    key: s.required(1, s.string(), 'Path of the field, such as spec.nodeName.'),
    operator: s.required(
      2,
      s.string({ goType: 'v1.FieldSelectorOperator' }),
      'Operator: In, NotIn, Exists or DoesNotExist.',
    ),
    values: s.optional(
      3,
      s.atomicList(s.string()),
      'Values to compare with: at least one for In and NotIn, none for Exists and DoesNotExist.',
    ),
  },
);
export type FieldSelectorRequirement = s.TypeOf<typeof fieldSelectorRequirement>;
