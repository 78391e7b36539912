import * as s from '@kruise/schema';

export const eventSource = s.object('io.k8s.api.core.v1.EventSource', 'Component that reported an event.', {
  component: s.optional(1, s.string(), 'The program that reported it.'),
  host: s.optional(2, s.string(), 'The node it was reported from.'),
});
export type EventSource = s.TypeOf<typeof eventSource>;
