import type { Event as CoreEvent } from '../core/event.ts';
import type { Event } from './event.ts';

/** Field names in the events.k8s.io group and in the core group. */
const names = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
  ['reportingController', 'reportingComponent'],
] as const;

const older: ReadonlyMap<string, string> = new Map(names);
const newer: ReadonlyMap<string, string> = new Map(names.map(([recent, old]) => [old, recent]));

function renamed(object: object, to: ReadonlyMap<string, string>): object {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [to.get(name) ?? name, value]));
}

/** Converts an event to the core group, in which events are stored. */
export function toCoreEvent(event: Event): CoreEvent {
  return { involvedObject: {}, ...renamed(event, older), apiVersion: 'v1' } as CoreEvent;
}

/** Converts an event of the core group to the events.k8s.io group. */
export function fromCoreEvent(event: CoreEvent): Event {
  return { ...renamed(event, newer), apiVersion: 'events.k8s.io/v1' } as Event;
}
