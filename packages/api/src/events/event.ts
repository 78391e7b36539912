import * as s from '@kruise/schema';
import { eventSource } from '../core/event-source.ts';
import { objectReference } from '../core/reference.ts';
import { kind } from '../meta/kind.ts';

export const eventSeries = s.object('io.k8s.api.events.v1.EventSeries', 'How often an event has come again.', {
  count: s.required(1, s.int32(), 'How often it has happened in the series so far.'),
  lastObservedTime: s.required(2, s.microTime(), 'When it last happened.'),
});
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
      eventTime: s.required(2, s.microTime(), 'When it first happened. Must be given.'),
      series: s.pointer(3, eventSeries, 'How it repeats, if it does.'),
      reportingController: s.optional(
        4,
        s.string(),
        'The controller that reported it, such as kubernetes.io/kubelet. Must be given in new events.',
      ),
      reportingInstance: s.optional(
        5,
        s.string(),
        'Which instance of the controller, up to 128 characters. Must be given in new events.',
      ),
      action: s.optional(6, s.string(), 'What was done, or failed, about the object; up to 128 characters.'),
      reason: s.optional(7, s.string(), 'Machine-readable reason; up to 128 characters.'),
      regarding: s.optional(8, objectReference, 'The object it happened to, as a rule what the controller reconciles.'),
      related: s.pointer(9, objectReference, 'A second object that had part in it.'),
      note: s.optional(10, s.string(), 'Human-readable message; up to 1 KiB.'),
      type: s.optional(11, s.string(), 'Normal or Warning.'),
      deprecatedSource: s.optional(12, eventSource, 'Who reported it, for events of the core group.'),
      deprecatedFirstTimestamp: s.optional(13, s.time(), 'When it first happened, for events of the core group.'),
      deprecatedLastTimestamp: s.optional(14, s.time(), 'When it last happened, for events of the core group.'),
      deprecatedCount: s.optional(15, s.int32(), 'How often it has happened, for events of the core group.'),
    },
  },
);
export type Event = s.TypeOf<typeof event>;
