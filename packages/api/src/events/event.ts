import * as s from '@kruise/schema';
import { eventSource } from '../core/event-source.ts';
import { objectReference } from '../core/reference.ts';
import { kind } from '../meta/kind.ts';

export const eventSeries = s.object(
  'io.k8s.api.events.v1.EventSeries',
  'Series of an event that occurred repeatedly.',
  {
    count: s.required(1, s.int32(), 'Number of occurrences in the series so far.'),
    lastObservedTime: s.required(2, s.microTime(), 'Time of the last occurrence.'),
  },
);
export type EventSeries = s.TypeOf<typeof eventSeries>;

export const event = kind(
  'io.k8s.api.events.v1.Event',
  'A report of an event somewhere in the cluster. Retained for a limited time, an hour by default; no program may depend on it.',
  {
    group: 'events.k8s.io',
    version: 'v1',
    kind: 'Event',
    plural: 'events',
    scope: 'Namespaced',
    shortNames: ['ev'],
    fields: {
      eventTime: s.required(2, s.microTime(), 'Time of the first occurrence. Required.'),
      series: s.pointer(3, eventSeries, 'Series, if the event occurred repeatedly.'),
      reportingController: s.optional(
        4,
        s.string(),
        'Controller that reported the event, for example kubernetes.io/kubelet. Required in new events.',
      ),
      reportingInstance: s.optional(
        5,
        s.string(),
        'Instance of the reporting controller, up to 128 characters. Required in new events.',
      ),
      action: s.optional(6, s.string(), 'Action that was taken or that failed; up to 128 characters.'),
      reason: s.optional(7, s.string(), 'Machine-readable reason; up to 128 characters.'),
      regarding: s.optional(
        8,
        objectReference,
        'Object of the event, normally the one that the controller reconciles.',
      ),
      related: s.pointer(9, objectReference, 'Secondary object of the event.'),
      note: s.optional(10, s.string(), 'Human-readable message; up to 1 KiB.'),
      type: s.optional(11, s.string(), 'Normal or Warning.'),
      deprecatedSource: s.optional(12, eventSource, 'Reporting component, for events of the core group.'),
      deprecatedFirstTimestamp: s.optional(13, s.time(), 'Time of the first occurrence, for events of the core group.'),
      deprecatedLastTimestamp: s.optional(14, s.time(), 'Time of the last occurrence, for events of the core group.'),
      deprecatedCount: s.optional(15, s.int32(), 'Number of occurrences, for events of the core group.'),
    },
  },
);
export type Event = s.TypeOf<typeof event>;
