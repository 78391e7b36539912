/** Seeded generator of malformed requests to a kubelet. */
import type { Random } from '@kruise/values/random';

/** An HTTP request as sent. */
export type FuzzRequest = {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** True if bytes of the request itself are mutated, so that it may not be valid HTTP. */
  readonly isRaw: boolean;
};

const targets = [
  '/healthz',
  '/healthz/ping?verbose',
  '/pods',
  '/runningpods/',
  '/configz',
  '/metrics',
  '/metrics/cadvisor',
  '/metrics/resource',
  '/metrics/probes',
  '/stats/summary',
  '/stats/summary?only_cpu_and_memory=true',
  '/logs/',
  '/logs/deep/syslog',
  '/containerLogs/default/web/c',
  '/containerLogs/default/web/c?tailLines=1&timestamps=true&sinceTime=2026-01-01T00:00:00Z',
  '/exec/default/web/c?command=ls&output=1',
  '/attach/default/web/c?output=1',
  '/portForward/default/web?port=80',
  '/run/default/web/c?cmd=ls',
  '/checkpoint/default/web/c',
  '/debug/pprof/profile',
  '/',
];
const methods = ['GET', 'GET', 'GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'];
const fragments = [
  '..',
  '.',
  '',
  '%2e%2e',
  '%2e',
  '..%2f',
  '%2f',
  '%5c',
  '\\',
  '%00',
  '%ff',
  '%',
  '%zz',
  '#',
  '?',
  ';',
  '&',
  '=',
  '//',
  'http://other/',
  'exec',
  'metrics',
  'logs',
  'pods',
  'default',
  'web',
  'c',
  '%F0%9F%92%A9',
  '{}',
  '[]',
  '*',
  '__proto__',
  'constructor',
  '-1',
  '1e309',
  'NaN',
  '9'.repeat(40),
  'a'.repeat(300),
  'a/'.repeat(60),
  '%2e%2e%2f'.repeat(20),
]; // prettier-ignore
const queries = [
  'follow=',
  'tailLines=',
  'limitBytes=',
  'sinceSeconds=',
  'sinceTime=',
  'timestamps=',
  'previous=',
  'tail=',
  'command=',
  'output=',
  'input=',
  'tty=',
  'port=',
  'cmd=',
  'verbose',
  'only_cpu_and_memory=',
]; // prettier-ignore
const headerRows: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['Authorization', ['Bearer x', 'Bearer', `Bearer ${'t'.repeat(4000)}`, 'Basic eDp5', 'bearer a b', '']],
  ['Accept', ['application/openmetrics-text;version=1.0.0', '*/*;q=x', ','.repeat(500), 'a/b;'.repeat(200)]],
  ['Upgrade', ['SPDY/3.1', 'websocket', 'h2c', '']],
  ['Connection', ['Upgrade', 'close', 'keep-alive, Upgrade', 'Authorization']],
  ['X-Stream-Protocol-Version', ['v4.channel.k8s.io', 'portforward.k8s.io', 'x', ','.repeat(100)]],
  ['Sec-WebSocket-Key', ['dGhlIHNhbXBsZSBub25jZQ==', 'x']],
  ['Sec-WebSocket-Version', ['13', '8']],
  ['Sec-WebSocket-Protocol', ['v5.channel.k8s.io', 'x', `base64url.bearer.authorization.k8s.io.${'x'.repeat(50)}`]],
  ['X-Forwarded-For', ['127.0.0.1', '::1, '.repeat(100)]],
  ['X-Remote-User', ['system:admin']],
  ['X-Remote-Group', ['system:masters']],
  ['Impersonate-User', ['system:admin']],
  ['Content-Type', ['application/json', '\t']],
  ['Expect', ['100-continue', 'x']],
  ['Range', ['bytes=0-', 'bytes=-1', `bytes=${'0-1,'.repeat(200)}0-1`]],
  ['Host', ['other', '', 'a:b:c']],
];

/** Returns a mutation of a valid request. */
export function mutatedRequest(random: Random): FuzzRequest {
  const below = (count: number) => Math.floor(random.next() * count);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  let target = pick(targets);
  for (let count = below(4); count > 0; count--) target = mutateTarget(target, below, pick);
  const headers = Array.from({ length: below(4) }, () => {
    const [name, values] = pick(headerRows);
    return [name, pick(values)] as const;
  });
  const method = pick(methods);
  const body = method === 'GET' || random.next() < 0.7 ? '' : 'x'.repeat(below(20_000));
  return { method, target, headers, body, isRaw: random.next() < 0.05 };
}

type Below = (count: number) => number;
type Pick = <T>(list: readonly T[]) => T;

function mutateTarget(target: string, below: Below, pick: Pick): string {
  const at = below(target.length + 1);
  switch (below(7)) {
    case 0:
      return `${target.slice(0, at)}/${pick(fragments)}/${target.slice(at)}`;
    case 1:
      return target.slice(0, at) + pick(fragments) + target.slice(at);
    case 2:
      return target.slice(0, at) + target.slice(at + 1 + below(3));
    case 3:
      return target.slice(0, at) + String.fromCharCode(below(256)) + target.slice(at + 1);
    case 4:
      return `${target}${target.includes('?') ? '&' : '?'}${pick(queries)}${pick(fragments)}`;
    case 5:
      return target + pick(targets);
    default:
      return target.slice(0, at) + target.slice(at).toUpperCase();
  }
}

/** Returns the bytes of a request, some of them mutated. */
export function rawBytes({ method, target, headers, body }: FuzzRequest, random: Random): Buffer {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: kubelet',
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
  for (let count = 1 + Math.floor(random.next() * 5); count > 0; count--) {
    bytes[Math.floor(random.next() * bytes.length)] = Math.floor(random.next() * 256);
  }
  return bytes;
}
