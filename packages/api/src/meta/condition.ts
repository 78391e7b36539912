import * as s from '@kruise/schema';

export const condition = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.Condition',
  'What is known of an object in one respect.',
  {
    type: s.required(
      1,
      s.string(),
      "Which respect: a word in CamelCase, with a DNS prefix if it is not the kind's own.",
    ),
    status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), 'Whether it holds: True, False or Unknown.'),
    observedGeneration: s.optional(
      3,
      s.int64(),
      'The metadata.generation this was concluded from. Less than the present one means that it is out of date.',
    ),
    lastTransitionTime: s.required(4, s.time(), 'When the status last changed.'),
    reason: s.required(5, s.string(), 'A word in CamelCase for programs that says why; never empty.'),
    message: s.required(6, s.string(), 'A sentence for people with the particulars; may be empty.'),
  },
);
export type Condition = s.TypeOf<typeof condition>;
