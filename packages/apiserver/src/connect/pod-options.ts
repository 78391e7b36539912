import type {
  PodAttachOptions,
  PodExecOptions,
  PodLogOptions,
  PodPortForwardOptions,
} from '@kruise/api/core/pod-options';
import { badRequest, invalid } from '@kruise/machinery/status';
import { type Cause, forbidden, invalid as invalidField } from '@kruise/schema/field-error';
import { ParseError } from '@kruise/values/parse-error';
import { formatTime, parseTime } from '@kruise/values/time';
import { parseInteger } from '../handlers/list-options.ts';
import { isTrue } from '../request-info.ts';

/** Options of the connect subresources, parsed from the query as Kubernetes does. */

const streams = ['stdin', 'stdout', 'stderr', 'tty'] as const;

function streamsOf(query: URLSearchParams): Pick<PodExecOptions, (typeof streams)[number] | 'container'> {
  const options: { [name: string]: true | string } = {};
  for (const name of streams) if (isTrue(query.get(name))) options[name] = true;
  const container = query.get('container');
  if (container) options.container = container;
  return options;
}

export function execOptions(query: URLSearchParams): PodExecOptions {
  return { kind: 'PodExecOptions', apiVersion: 'v1', ...streamsOf(query), command: query.getAll('command') };
}

export function attachOptions(query: URLSearchParams): PodAttachOptions {
  return { kind: 'PodAttachOptions', apiVersion: 'v1', ...streamsOf(query) };
}

export function portForwardOptions(query: URLSearchParams): PodPortForwardOptions {
  const ports = query.getAll('ports').flatMap((value) => value.split(',').map(portNumber));
  return { kind: 'PodPortForwardOptions', apiVersion: 'v1', ...(ports.length > 0 ? { ports } : {}) };
}

function portNumber(text: string): number {
  const refused = (why: string) =>
    badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^\d+$/.test(text)) throw refused('invalid syntax');
  if (Number(text) > 0xffff) throw refused('value out of range');
  return Number(text);
}

export function logOptions(query: URLSearchParams, pod: string): PodLogOptions {
  const sinceTime = timeOf(query.get('sinceTime'));
  const container = query.get('container');
  const integers: { [name: string]: number } = {};
  for (const name of ['sinceSeconds', 'tailLines', 'limitBytes']) {
    const text = query.get(name);
    if (text === '') throw badRequest('strconv.ParseInt: parsing "": invalid syntax');
    const value = parseInteger(text);
    if (value !== undefined) integers[name] = value;
  }
  const options: PodLogOptions = {
    kind: 'PodLogOptions',
    apiVersion: 'v1',
    ...(container ? { container } : {}),
    ...(isTrue(query.get('follow')) ? { follow: true } : {}),
    ...(isTrue(query.get('previous')) ? { previous: true } : {}),
    ...(sinceTime === undefined ? {} : { sinceTime }),
    ...(isTrue(query.get('timestamps')) ? { timestamps: true } : {}),
    ...integers,
    ...(isTrue(query.get('insecureSkipTLSVerifyBackend')) ? { insecureSkipTLSVerifyBackend: true } : {}),
    ...(query.has('stream') ? { stream: query.get('stream')! } : {}),
  };
  const faults = [...logFaults(options)];
  if (faults.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, pod, faults);
  return options;
}

function timeOf(text: string | null): string | undefined {
  if (text === null) return undefined;
  if (text === '' || text === 'null') return '0001-01-01T00:00:00Z';
  try {
    return formatTime(parseTime(text));
  } catch (error) {
    if (error instanceof ParseError) throw badRequest(error.message);
    throw error;
  }
}

function* logFaults({ tailLines, limitBytes, sinceSeconds, sinceTime, stream }: PodLogOptions): Generator<Cause> {
  if (tailLines != null && tailLines < 0) {
    yield invalidField('tailLines', tailLines, 'must be greater than or equal to 0');
  }
  if (limitBytes != null && limitBytes < 1) yield invalidField('limitBytes', limitBytes, 'must be greater than 0');
  if (sinceSeconds != null && sinceTime != null) {
    yield forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified');
  } else if (sinceSeconds != null && sinceSeconds < 1) {
    yield invalidField('sinceSeconds', sinceSeconds, 'must be greater than 0');
  }
  if (stream != null) yield forbidden('stream', 'may not be specified');
}
