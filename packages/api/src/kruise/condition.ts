import * as s from '@kruise/schema';

const status = s.oneOf(['True', 'False', 'Unknown']);
const type = s.string();

/** A condition in the form that most Kruise kinds use. */
export const condition = s.object({
  type: s.required(type, 'Type of the condition.'),
  status: s.required(status, 'Status of the condition: True, False or Unknown.'),
  lastTransitionTime: s.optional(s.dateTime(), 'Time at which the status of the condition last changed.'),
  reason: s.optional(s.string(), 'Machine-readable reason for the status.'),
  message: s.optional(s.string(), 'Human-readable message with details.'),
});
export type Condition = s.TypeOf<typeof condition>;

/** A condition of a job, which has the time of its last probe too. */
export const jobCondition = s.object({
  type: s.required(type, 'Type of the condition of the job.'),
  status: s.required(status, 'Status of the condition: True, False or Unknown.'),
  lastProbeTime: s.optional(s.dateTime(), 'Time at which the condition was last probed.'),
  lastTransitionTime: s.optional(s.dateTime(), 'Time at which the status of the condition last changed.'),
  reason: s.optional(s.string(), 'Machine-readable reason for the status.'),
  message: s.optional(s.string(), 'Human-readable message with details.'),
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
    'Type of the condition in CamelCase, with a DNS prefix if it is not of Kruise.',
  ),
  status: s.required(s.enumeration(['True', 'False', 'Unknown']), 'Status of the condition: True, False or Unknown.'),
  observedGeneration: s.optional(
    s.int64({ minimum: 0 }),
    'The metadata.generation that the condition was observed for.',
  ),
  lastTransitionTime: s.required(s.dateTime(), 'Time at which the status of the condition last changed.'),
  reason: s.required(
    s.string({ minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' }),
    'Machine-readable reason in CamelCase; never empty.',
  ),
  message: s.required(s.string({ maxLength: 32768 }), 'Human-readable message with details; may be empty.'),
});
export type StandardCondition = s.TypeOf<typeof standardCondition>;
