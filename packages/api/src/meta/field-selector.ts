import * as s from '@kruise/schema';


export const fieldSelectorRequirement = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement', '', {
  key: s.required(1, s.string(), ''),
  operator: s.required(2, s.string({ goType: 'v1.FieldSelectorOperator' }), ''),
  values: s.optional(3, s.atomicList(s.string()), ''),
});
export type FieldSelectorRequirement = s.TypeOf<typeof fieldSelectorRequirement>;
