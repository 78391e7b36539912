import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { eventSource } from './event-source.ts';
import { objectReference } from './reference.ts';

export const eventSeries = s.object('io.k8s.api.core.v1.EventSeries', 'Series of an event that occurred repeatedly.', {
  count: s.optional(1, s.int32(), 'Number of occurrences in the series so far.'),
  lastObservedTime: s.optional(2, s.microTime(), 'Time of the last occurrence.'),
});
export type EventSeries = s.TypeOf<typeof eventSeries>;

export const event = kind(
  'io.k8s.api.core.v1.Event',
  'A report of an event somewhere in the cluster. Retained for a limited time, an hour by default; no program may depend on it.',
  {
    group: '',
    version: 'v1',
    kind: 'Event',
    plural: 'events',
    scope: 'Namespaced',
    shortNames: ['ev'],
    fields: {
      metadata: s.required(1, objectMeta, 'Name, labels and the other facts every object has.'),
      involvedObject: s.required(2, objectReference, 'Object of the event.'),
      reason: s.optional(3, s.string(), 'Machine-readable reason for the event, in CamelCase.'),
      message: s.optional(4, s.string(), 'Human-readable description of the event.'),
      source: s.optional(5, eventSource, 'Reporting component. Replaced by reportingComponent and reportingInstance.'),
      firstTimestamp: s.optional(6, s.time(), 'Time of the first occurrence.'),
      lastTimestamp: s.optional(7, s.time(), 'Time of the last occurrence.'),
      count: s.optional(8, s.int32(), 'Number of occurrences.'),
      type: s.optional(9, s.string(), 'Normal or Warning.'),
      eventTime: s.optional(10, s.microTime(), 'Time of the first occurrence, in microseconds.'),
      series: s.pointer(11, eventSeries, 'Series, if the event occurred repeatedly.'),
      action: s.optional(12, s.string(), 'Action that was taken or that failed.'),
      related: s.pointer(13, objectReference, 'Secondary object of the event.'),
      reportingComponent: s.optional(
        14,
        s.string(),
        'Controller that reported the event, for example kubernetes.io/kubelet.',
        { omitEmpty: false },
      ),
      reportingInstance: s.optional(
        15,
        s.string(),
        'Instance of the reporting controller, for example kubelet-node-1.',
        {
          omitEmpty: false,
        },
      ),
    },
  },
);
export type Event = s.TypeOf<typeof event>;
