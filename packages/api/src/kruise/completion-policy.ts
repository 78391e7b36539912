import * as s from '@kruise/schema';

/** Completion policy of a job that runs on many nodes. */
export const completionPolicy = s.object({
  type: s.optional(
    s.oneOf(['Always', 'Never']),
    'Always (the default): the job ends once every node is done. Never: it stays, and serves nodes that join later.',
  ),
  activeDeadlineSeconds: s.pointer(
    s.int64(),
    'Seconds since the start after which an unfinished job fails. Unset: no limit. Only with type Always.',
  ),
  ttlSecondsAfterFinished: s.pointer(
    s.int32(),
    'Time to live of a finished job in seconds; 0 deletes it at once. Unset: it is kept. Only with type Always.',
  ),
});
export type CompletionPolicy = s.TypeOf<typeof completionPolicy>;
