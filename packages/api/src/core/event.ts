import * as s from '@kruise/schema';
import { eventSource } from './event-source.ts';
import { kind } from '../meta/kind.ts';
import { objectReference } from './reference.ts';

export const eventSeries = s.object('io.k8s.api.core.v1.EventSeries', '', {
  count: s.optional(1, s.int32(), ''),
  lastObservedTime: s.optional(2, s.microTime(), ''),
});
export type EventSeries = s.TypeOf<typeof eventSeries>;

export const event = kind('io.k8s.api.core.v1.Event', '', {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  scope: 'Namespaced',
  shortNames: ['ev'],
  fields: {
    involvedObject: s.required(2, objectReference, ''),
    reason: s.optional(3, s.string(), ''),
    message: s.optional(4, s.string(), ''),
    source: s.optional(5, eventSource, ''),
    firstTimestamp: s.optional(6, s.time(), ''),
    lastTimestamp: s.optional(7, s.time(), ''),
    count: s.optional(8, s.int32(), ''),
    type: s.optional(9, s.string(), ''),
    eventTime: s.optional(10, s.microTime(), ''),
    series: s.pointer(11, eventSeries, ''),
    action: s.optional(12, s.string(), ''),
    related: s.pointer(13, objectReference, ''),
    reportingComponent: s.optional(14, s.string(), '', { omitEmpty: false }),
    reportingInstance: s.optional(15, s.string(), '', { omitEmpty: false }),
  },
});
export type Event = s.TypeOf<typeof event>;
