import * as s from '@kruise/schema';


export const toleration = s.object('io.k8s.api.core.v1.Toleration', '', {
  key: s.optional(1, s.string(), ''),
  operator: s.optional(2, s.oneOf('v1.TolerationOperator', ['Exists', 'Equal']), ''),
  value: s.optional(3, s.string(), ''),
  effect: s.optional(4, s.oneOf('v1.TaintEffect', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']), ''),
  tolerationSeconds: s.pointer(5, s.int64(), ''),
});
export type Toleration = s.TypeOf<typeof toleration>;
