import { age, type Loose, nameColumn, tableOfColumns, text, wide } from './cells.ts';

function eventTimes(event: Loose, nowMs: number): { readonly first: string; readonly last: string } {
  const firstTime = event.firstTimestamp ?? event.deprecatedFirstTimestamp ?? event.eventTime;
  const first = age(firstTime, nowMs);
  const lastTime = event.series?.lastObservedTime ?? event.lastTimestamp ?? event.deprecatedLastTimestamp;
  return { first, last: lastTime ? age(lastTime, nowMs) : first };
}

function eventSource(event: Loose): string {
  const source = event.source ?? event.deprecatedSource ?? {};
  const component = source.component || event.reportingComponent || event.reportingController || '';
  const host = source.host || event.reportingInstance || '';
  return host === '' ? component : `${component}, ${host}`;
}

const about = (event: Loose) => event.involvedObject ?? event.regarding ?? {};

export const eventTable = tableOfColumns([
  text(
    'Last Seen',
    'The time at which the most recent occurrence of this event was recorded.',
    (event, nowMs) => eventTimes(event, nowMs).last,
  ),
  text(
    'Type',
    'Type of this event (Normal, Warning), new types could be added in the future',
    ({ type }) => type ?? '',
  ),
  text(
    'Reason',
    "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
    ({ reason }) => reason ?? '',
  ),
  text(
    'Object',
    'The object that this event is about.',
    (event) => `${(about(event).kind ?? '').toLowerCase()}/${about(event).name ?? ''}`,
  ),
  wide(
    text(
      'Subobject',
      'If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the name of the container that triggered the event) or if no container name is specified "spec.containers[2]" (container with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing a part of an object.',
      (event) => about(event).fieldPath ?? '',
    ),
  ),
  wide(
    text('Source', 'The component reporting this event. Should be a short machine understandable string.', eventSource),
  ),
  text('Message', 'A human-readable description of the status of this operation.', (event) =>
    (event.message ?? event.note ?? '').trim(),
  ),
  wide(
    text(
      'First Seen',
      'The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)',
      (event, nowMs) => eventTimes(event, nowMs).first,
    ),
  ),
  wide(
    text(
      'Count',
      'The number of times this event has occurred.',
      (event) => event.series?.count ?? ((event.count ?? event.deprecatedCount) || 1),
    ),
  ),
  wide(nameColumn),
]);
