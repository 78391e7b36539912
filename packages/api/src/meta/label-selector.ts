import * as s from '@kruise/schema';


export const labelSelectorRequirement = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement', '', {
  key: s.required(1, s.string(), ''),
  operator: s.required(2, s.string({ goType: 'v1.LabelSelectorOperator' }), ''),
  values: s.optional(3, s.atomicList(s.string()), ''),
});
export type LabelSelectorRequirement = s.TypeOf<typeof labelSelectorRequirement>;

export const labelSelector = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector', '', {
  matchLabels: s.optional(1, s.map(s.string()), ''),
  matchExpressions: s.optional(2, s.atomicList(labelSelectorRequirement), ''),
}, { mapType: 'atomic' });
export type LabelSelector = s.TypeOf<typeof labelSelector>;
