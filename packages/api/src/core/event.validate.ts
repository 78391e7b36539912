import { type Cause, invalid, required } from '@kruise/schema/field-error';
import { validateDns1123Subdomain, validateQualifiedName } from '@kruise/values/names';
import { invalidStructure, invalidTime } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, orNull, refusals } from '../meta/value.validate.ts';
import type { Event } from './event.ts';

const mismatch = 'does not match event.namespace';

/** Maximum lengths of texts. */
const limits = { reportingInstance: 128, action: 128, reason: 128, message: 1024 };

/** Validates an event of the core group. Only newer events have an eventTime. */
export function validateEvent(event: Event): Generator<Cause> {
  return validateLegacy(event, 'reportingComponent');
}

function* validateLegacy(event: Event, reporter: string): Generator<Cause> {
  const { metadata, involvedObject } = event;
  const { namespace = '' } = metadata;
  const about = involvedObject.namespace ?? '';
  if (!event.eventTime) {
    const isFitting = about === '' ? namespace === '' || namespace === 'default' : about === namespace;
    if (!isFitting) yield invalid('involvedObject.namespace', about, mismatch);
  } else {
    if (about === '' && namespace !== 'default' && namespace !== 'kube-system') {
      yield invalid('involvedObject.namespace', about, mismatch);
    }
    const { reportingComponent = '' } = event;
    if (reportingComponent === '') yield required(reporter);
    yield* refusals(reporter, reportingComponent, validateQualifiedName(reportingComponent));
    for (const field of ['reportingInstance', 'action', 'reason', 'message'] as const) {
      const text = event[field] ?? '';
      if (text === '' && field !== 'message') yield required(field);
      if (Buffer.byteLength(text) > limits[field]) {
        yield invalid(field, '', `can have at most ${limits[field]} characters`);
      }
    }
  }
  yield* refusals('namespace', namespace, validateDns1123Subdomain(namespace));
}

/** Validates the additional rules for events of the events.k8s.io group. */
export function* validateStrictEvent(event: Event): Generator<Cause> {
  yield* validateLegacy(event, 'reportingController');
  yield* validateKindMeta(event.metadata, { namespaced: true, name: subdomainName });
  yield* validateSeries(event);
  if (!event.eventTime) yield required('eventTime');
  if (event.type !== 'Normal' && event.type !== 'Warning') {
    yield invalid('type', '', `has invalid value: ${event.type ?? ''}`);
  }
  if (event.firstTimestamp) yield invalid('firstTimestamp', '', 'needs to be unset');
  if (event.lastTimestamp) yield invalid('lastTimestamp', '', 'needs to be unset');
  if (event.count) yield invalid('count', '', 'needs to be unset');
  if (event.source?.component || event.source?.host) yield invalid('source', '', 'needs to be unset');
}

function* validateSeries({ series }: Event): Generator<Cause> {
  if (!series) return;
  if ((series.count ?? 0) < 2) yield invalid('series.count', '', 'should be at least 2');
  if (!series.lastObservedTime) yield required('series.lastObservedTime');
}

/** Immutable fields of an event, with their names and the Go types of those that are structs. */
const immutable: readonly {
  readonly field: keyof Event;
  readonly type?: 'time' | `core.${string}`;
  readonly named?: string;
}[] = [
  { field: 'involvedObject', type: 'core.ObjectReference' },
  { field: 'reason' },
  { field: 'message' },
  { field: 'source', type: 'core.EventSource' },
  { field: 'firstTimestamp', type: 'time' },
  { field: 'lastTimestamp', type: 'time' },
  { field: 'count' },
  { field: 'reason' },
  { field: 'type' },
  { field: 'eventTime', type: 'time' },
  { field: 'action' },
  { field: 'related', type: 'core.ObjectReference' },
  { field: 'reportingComponent', named: 'reportingController' },
  { field: 'reportingInstance' },
];

/** The zero time of Go. */
const noTime = '0001-01-01T00:00:00Z';

export function* validateStrictEventUpdate(event: Event, old: Event): Generator<Cause> {
  yield* validateLegacy(event, 'reportingController');
  yield* validateKindMetaUpdate(event.metadata, old.metadata);
  if (!isSame(event.series, old.series)) yield* validateSeries(event);
  for (const { field, type, named = field } of immutable) {
    const value = event[field];
    if (isSame(value ?? undefined, old[field] ?? undefined)) continue;
    if (type === undefined) yield invalid(named, field === 'count' ? (value ?? 0) : orNull(value), isImmutable);
    else if (type === 'time') yield invalidTime(named, (value as string | null | undefined) ?? noTime, isImmutable);
    else yield invalidStructure(named, type, value ?? {}, isImmutable);
  }
}
