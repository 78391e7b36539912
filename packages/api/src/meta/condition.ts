import * as s from '@kruise/schema';


export const condition = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.Condition', '', {
  type: s.required(1, s.string(), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  observedGeneration: s.optional(3, s.int64(), ''),
  lastTransitionTime: s.required(4, s.time(), ''),
  reason: s.required(5, s.string(), ''),
  message: s.required(6, s.string(), ''),
});
export type Condition = s.TypeOf<typeof condition>;
