import * as s from '@kruise/schema';

export const labelSelectorRequirement = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement',
  'A demand on a label.',
  {
    key: s.required(1, s.string(), 'Key of the label.'),
    operator: s.required(
      2,
      s.string({ goType: 'v1.LabelSelectorOperator' }),
      'Operator: In, NotIn, Exists or DoesNotExist.',
    ),
    values: s.optional(
      3,
      s.atomicList(s.string()),
      'Values to compare with: at least one for In and NotIn, none for Exists and DoesNotExist.',
    ),
  },
);
export type LabelSelectorRequirement = s.TypeOf<typeof labelSelectorRequirement>;

export const labelSelector = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector',
  'Objects by their labels; all demands must hold. An empty selector chooses all objects, a missing one none.',
  {
    matchLabels: s.optional(1, s.map(s.string()), 'Labels with these values.'),
    matchExpressions: s.optional(2, s.atomicList(labelSelectorRequirement), 'Further demands on labels.'),
  },
  { mapType: 'atomic' },
);
export type LabelSelector = s.TypeOf<typeof labelSelector>;
