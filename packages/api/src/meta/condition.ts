import * as s from '@kruise/schema';

export const condition = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.Condition', 'A condition of an object.', {
  type: s.required(1, s.string(), "Type of the condition in CamelCase, with a DNS prefix if it is not the kind's own."),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), 'Status of the condition: True, False or Unknown.'),
  observedGeneration: s.optional(
    3,
    s.int64(),
    'The metadata.generation that the condition was observed for. If it is less than the current one, the condition is stale.',
  ),
  lastTransitionTime: s.required(4, s.time(), 'Time at which the status of the condition last changed.'),
  reason: s.required(5, s.string(), 'Machine-readable reason in CamelCase; never empty.'),
  message: s.required(6, s.string(), 'Human-readable message with details; may be empty.'),
});
export type Condition = s.TypeOf<typeof condition>;
