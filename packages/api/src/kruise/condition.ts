import * as s from '@kruise/schema';

const status = s.oneOf(['True', 'False', 'Unknown']);
const type = s.string();

/** A condition in the form that most Kruise kinds use. */
export const condition = s.object({
  type: s.required(type, 'Which respect this condition is about.'),
  status: s.required(status, 'Whether it holds: True, False or Unknown.'),
  lastTransitionTime: s.optional(s.dateTime(), 'When the status last changed.'),
  reason: s.optional(s.string(), 'A word for programs that says why the status is what it is.'),
  message: s.optional(s.string(), 'A sentence for people with the particulars.'),
});
export type Condition = s.TypeOf<typeof condition>;

/** A condition of a job, which has the time of its last probe too. */
export const jobCondition = s.object({
  type: s.required(type, 'Which event in the life of the job this is.'),
  status: s.required(status, 'Whether it has happened: True, False or Unknown.'),
  lastProbeTime: s.optional(s.dateTime(), 'When the job was last examined in this respect.'),
  lastTransitionTime: s.optional(s.dateTime(), 'When the status last changed.'),
  reason: s.optional(s.string(), 'A word for programs that says why the status is what it is.'),
  message: s.optional(s.string(), 'A sentence for people with the particulars.'),
});
export type JobCondition = s.TypeOf<typeof jobCondition>;

/** The condition of `metav1`, with the limits that its schema has in a CRD. */
export const standardCondition = s.object({
  type: s.required(
    s.string({
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    }),
    'Which respect this condition is about: a CamelCase word, with a DNS prefix if it is not of Kruise.',
  ),
  status: s.required(s.enumeration(['True', 'False', 'Unknown']), 'Whether it holds: True, False or Unknown.'),
  observedGeneration: s.optional(s.int64({ minimum: 0 }), 'The metadata.generation this was concluded from.'),
  lastTransitionTime: s.required(s.dateTime(), 'When the status last changed.'),
  reason: s.required(
    s.string({ minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' }),
    'A CamelCase word for programs that says why the status is what it is; never empty.',
  ),
  message: s.required(s.string({ maxLength: 32768 }), 'A sentence for people with the particulars; may be empty.'),
});
export type StandardCondition = s.TypeOf<typeof standardCondition>;
