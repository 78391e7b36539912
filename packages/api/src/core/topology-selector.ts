import * as s from '@kruise/schema';

export const topologySelectorLabelRequirement = s.object(
  'io.k8s.api.core.v1.TopologySelectorLabelRequirement',
  'A demand on a topology label.',
  {
    key: s.required(1, s.string(), 'Key of the label.'),
    values: s.required(2, s.atomicList(s.string()), 'Values of which the label must have one.'),
  },
);
export type TopologySelectorLabelRequirement = s.TypeOf<typeof topologySelectorLabelRequirement>;

export const topologySelectorTerm = s.object(
  'io.k8s.api.core.v1.TopologySelectorTerm',
  'Demands on topology labels that must all hold.',
  {
    matchLabelExpressions: s.optional(1, s.atomicList(topologySelectorLabelRequirement), 'The demands.'),
  },
  { mapType: 'atomic' },
);
export type TopologySelectorTerm = s.TypeOf<typeof topologySelectorTerm>;
