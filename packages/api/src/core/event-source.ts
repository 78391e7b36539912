import * as s from '@kruise/schema';

export const eventSource = s.object('io.k8s.api.core.v1.EventSource', 'Component that reported an event.', {
  component: s.optional(1, s.string(), 'Component that reported the event.'),
  host: s.optional(2, s.string(), 'Node from which the event was reported.'),
});
export type EventSource = s.TypeOf<typeof eventSource>;
