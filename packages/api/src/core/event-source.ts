import * as s from '@kruise/schema';


export const eventSource = s.object('io.k8s.api.core.v1.EventSource', '', {
  component: s.optional(1, s.string(), ''),
  host: s.optional(2, s.string(), ''),
});
export type EventSource = s.TypeOf<typeof eventSource>;
