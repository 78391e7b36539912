import * as s from '@kruise/schema';


export const topologySelectorLabelRequirement = s.object('io.k8s.api.core.v1.TopologySelectorLabelRequirement', '', {
  key: s.required(1, s.string(), ''),
  values: s.required(2, s.atomicList(s.string()), ''),
});
export type TopologySelectorLabelRequirement = s.TypeOf<typeof topologySelectorLabelRequirement>;

export const topologySelectorTerm = s.object('io.k8s.api.core.v1.TopologySelectorTerm', '', {
  matchLabelExpressions: s.optional(1, s.atomicList(topologySelectorLabelRequirement), ''),
}, { mapType: 'atomic' });
export type TopologySelectorTerm = s.TypeOf<typeof topologySelectorTerm>;
