import * as s from '@kruise/schema';

export const toleration = s.object('io.k8s.api.core.v1.Toleration', 'Toleration of a taint.', {
  key: s.optional(1, s.string(), 'Key of the taint. Empty, with Exists: any taint.'),
  operator: s.optional(
    2,
    s.oneOf('v1.TolerationOperator', ['Exists', 'Equal']),
    'Operator: Equal (the default) compares values; Exists matches any value.',
  ),
  value: s.optional(3, s.string(), 'Value of the taint; empty with Exists.'),
  effect: s.optional(
    4,
    s.oneOf('v1.TaintEffect', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
    'Effect of the taint: NoSchedule, PreferNoSchedule or NoExecute. Empty: any.',
  ),
  tolerationSeconds: s.pointer(
    5,
    s.int64(),
    'Seconds for which a Pod tolerates a NoExecute taint. Unset: forever; 0 or less: evicted at once.',
  ),
});
export type Toleration = s.TypeOf<typeof toleration>;
