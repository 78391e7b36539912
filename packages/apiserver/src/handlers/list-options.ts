import { badRequest, invalid, unclassified } from '@kruise/machinery/status';
import { type Cause, forbidden, notSupported } from '@kruise/schema/field-error';
import { isTrue } from '../request-info.ts';

/** Options of a list or watch, with the names of the query parameters. */
export type ListOptions = {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly limit: number;
  readonly continue: string;
  readonly timeoutSeconds: number | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
};

const maxInt64 = 2n ** 63n - 1n;
/** Maximum number of digits to parse: a query may have a megabyte of digits, which are out of range anyway. */
const maxDigits = 100;

/** Parses an integer of a query string; errors have the wording of Go's strconv. */
export function parseInteger(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = BigInt(text.length > maxDigits ? maxInt64 + 1n : text.replace(/^\+/, ''));
  if (value > maxInt64 || value < -maxInt64 - 1n) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  }
  return Number(value);
}

/** Parses the options of a list. */
export function listOptions(query: URLSearchParams): ListOptions {
  const options = readOptions(query);
  refuse([...listFaults(options)]);
  return options;
}

/** Parses the options of a watch; `canStream` allows `sendInitialEvents`. */
export function watchOptions(query: URLSearchParams, canStream: boolean): ListOptions {
  const options = readOptions(query);
  refuse([...watchFaults(options, canStream)]);
  return options;
}

function refuse(causes: readonly Cause[]): void {
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes);
}

function readOptions(query: URLSearchParams): ListOptions {
  const sendInitialEvents = query.get('sendInitialEvents');
  return {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    limit: parseInteger(query.get('limit')) ?? 0,
    continue: query.get('continue') ?? '',
    timeoutSeconds: parseInteger(query.get('timeoutSeconds')),
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: sendInitialEvents === null ? undefined : isTrue(sendInitialEvents),
  };
}

function* listFaults(options: ListOptions): Generator<Cause> {
  const { resourceVersion, resourceVersionMatch: match } = options;
  if (match !== '') {
    const field = 'resourceVersionMatch';
    if (resourceVersion === '') {
      yield forbidden(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided');
    }
    if (options.continue !== '') {
      yield forbidden(field, 'resourceVersionMatch is forbidden when continue is provided');
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      yield notSupported(field, match, ['Exact', 'NotOlderThan', '']);
    }
    if (match === 'Exact' && resourceVersion === '0') {
      yield forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (options.sendInitialEvents !== undefined) {
    yield forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  }
}

function* watchFaults(
  { resourceVersionMatch: match, sendInitialEvents }: ListOptions,
  canStream: boolean,
): Generator<Cause> {
  const field = 'resourceVersionMatch';
  if (sendInitialEvents === undefined) {
    if (match !== '') {
      yield forbidden(field, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
    }
  } else {
    if (match !== 'NotOlderThan') {
      yield forbidden(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
    }
    if (!canStream) {
      yield forbidden(
        'sendInitialEvents',
        'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      );
    }
  }
  if (match !== '' && match !== 'NotOlderThan') yield notSupported(field, match, ['NotOlderThan']);
}

/** Parses a resourceVersion; errors have the wording of get and watch. */
export function parseVersion(text: string): number {
  const fault = versionFault(text);
  if (fault !== undefined) throw unclassified(`resourceVersion: Invalid value: ${JSON.stringify(text)}: ${fault}`);
  return Number(text);
}

/** Parses a resourceVersion; errors have the wording of list. */
export function parseListVersion(text: string): number {
  const fault = versionFault(text);
  if (fault !== undefined) {
    throw badRequest(`invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: ${fault}`);
  }
  return Number(text);
}

function versionFault(text: string): string | undefined {
  if (!/^\d+$/.test(text)) return `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  if (text.length > maxDigits || BigInt(text) >= 2n ** 64n)
    return `strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range`;
  return undefined;
}
