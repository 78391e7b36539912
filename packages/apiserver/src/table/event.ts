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
  text('Last Seen', 'How long ago it last happened.', (event, nowMs) => eventTimes(event, nowMs).last),
  text('Type', 'Whether all is well.', ({ type }) => type ?? ''),
  text('Reason', 'Why it happened, in a word.', ({ reason }) => reason ?? ''),
  text(
    'Object',
    'What it happened to.',
    (event) => `${(about(event).kind ?? '').toLowerCase()}/${about(event).name ?? ''}`,
  ),
  wide(text('Subobject', 'The part it happened to.', (event) => about(event).fieldPath ?? '')),
  wide(text('Source', 'Who tells.', eventSource)),
  text('Message', 'What happened.', (event) => (event.message ?? event.note ?? '').trim()),
  wide(text('First Seen', 'How long ago it first happened.', (event, nowMs) => eventTimes(event, nowMs).first)),
  wide(
    text(
      'Count',
      'How often it happened.',
      (event) => event.series?.count ?? ((event.count ?? event.deprecatedCount) || 1),
    ),
  ),
  { ...wide(nameColumn), doc: 'The name of the event.' },
]);
