import type { Event as CoreEvent } from '../core/event.ts';
import type { Event } from './event.ts';

/** What the older group calls the fields of the newer. */
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

/** The same event as the core group shows it, which is how events are stored. */
export function toCoreEvent(event: Event): CoreEvent {
  return { involvedObject: {}, ...renamed(event, older), apiVersion: 'v1' } as CoreEvent;
}

/** An event of the core group as the newer group shows it. */
export function fromCoreEvent(event: CoreEvent): Event {
  return { ...renamed(event, newer), apiVersion: 'events.k8s.io/v1' } as Event;
}
