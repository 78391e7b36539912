import * as s from '@kruise/schema';
import { eventSource } from '../core/event-source.ts';
import { kind } from '../meta/kind.ts';
import { objectReference } from '../core/reference.ts';

export const eventSeries = s.object('io.k8s.api.events.v1.EventSeries', '', {
  count: s.required(1, s.int32(), ''),
  lastObservedTime: s.required(2, s.microTime(), ''),
});
export type EventSeries = s.TypeOf<typeof eventSeries>;

export const event = kind('io.k8s.api.events.v1.Event', '', {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  scope: 'Namespaced',
  shortNames: ['ev'],
  fields: {
    eventTime: s.required(2, s.microTime(), ''),
    series: s.pointer(3, eventSeries, ''),
    reportingController: s.optional(4, s.string(), ''),
    reportingInstance: s.optional(5, s.string(), ''),
    action: s.optional(6, s.string(), ''),
    reason: s.optional(7, s.string(), ''),
    regarding: s.optional(8, objectReference, ''),
    related: s.pointer(9, objectReference, ''),
    note: s.optional(10, s.string(), ''),
    type: s.optional(11, s.string(), ''),
    deprecatedSource: s.optional(12, eventSource, ''),
    deprecatedFirstTimestamp: s.optional(13, s.time(), ''),
    deprecatedLastTimestamp: s.optional(14, s.time(), ''),
    deprecatedCount: s.optional(15, s.int32(), ''),
  },
});
export type Event = s.TypeOf<typeof event>;
