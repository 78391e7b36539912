import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { closed, join } from '@kruise/client/streaming/join';
import { isUpgrade, listOf, type Upgrade, writeHead } from '@kruise/client/streaming/upgrade';
import { badRequest, type StatusError, unclassified } from '@kruise/machinery/status';
import { tokenProtocol } from '../authentication/bearer-tokens.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Backend, type BackendAnswer, hasSwitched, type Switched } from './backend.ts';

/** Request forwarding: header filtering and protocol upgrades. */

/** Hop-by-hop headers, which concern only one connection. */
const hopByHop = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Reports whether a header carries credentials for this server, which must not be forwarded. */
function isCredential(name: string): boolean {
  return name === 'authorization' || name.startsWith('impersonate-') || name.startsWith('x-remote-');
}

type ForwardedHeaders = { [name: string]: string | string[] | undefined };

/**
 * Returns the headers of a request for its backend. The headers that the client's Connection header names are removed
 * before this server adds any, or a client could remove the headers that carry its identity.
 */
export function forwardedHeaders(exchange: Exchange): ForwardedHeaders {
  const headers: ForwardedHeaders = {};
  for (const [name, value] of Object.entries(endToEnd(exchange.headers))) {
    if (!name.startsWith(':') && !isCredential(name)) headers[name] = value;
  }
  // The offered subprotocols may contain a browser's bearer token.
  const protocols = headers['sec-websocket-protocol'];
  if (protocols !== undefined) {
    headers['sec-websocket-protocol'] = listOf(protocols)
      .filter((protocol) => !protocol.startsWith(tokenProtocol))
      .join(', ');
  }
  headers.host = exchange.headers.host ?? exchange.headers[':authority'];
  const before = exchange.headers['x-forwarded-for'];
  const from = exchange.socket.remoteAddress ?? '';
  headers['x-forwarded-for'] = before === undefined ? from : `${[before].flat().join(', ')}, ${from}`;
  return headers;
}

/** Returns the headers of a request for its backend, with the request to switch protocols. */
export function upgradeHeaders(exchange: Exchange): ForwardedHeaders {
  return { ...forwardedHeaders(exchange), connection: 'Upgrade', upgrade: exchange.headers.upgrade };
}

/** Returns the end-to-end headers. */
export function endToEnd<T>(headers: { readonly [name: string]: T | undefined }): { [name: string]: T } {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  );
  const kept: { [name: string]: T } = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !hopByHop.has(name) && !named.has(name)) kept[name] = value;
  }
  return kept;
}

/** Returns the socket of an upgrade request. */
export function takeUpgrade(exchange: Exchange): Upgrade {
  if (!exchange.upgrade || !isUpgrade(exchange.headers)) throw badRequest('Upgrade request required');
  return exchange.upgrade();
}

/** Connects a client to a backend with the protocol that they negotiate. */
export async function passUpgrade(
  exchange: Exchange,
  backend: Backend,
  request: { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders },
): Promise<void> {
  if (!exchange.upgrade || !isUpgrade(exchange.headers)) throw badRequest('Upgrade request required');
  const answer = await upgradeOf(exchange, backend, request);
  const { socket, head } = exchange.upgrade();
  if (!hasSwitched(answer)) {
    await relayRefusal(socket, answer);
    return;
  }
  writeHead(socket, 101, answer.headers, answer.reason);
  if (answer.head.length > 0) socket.write(answer.head);
  if (head.length > 0) answer.socket.write(head);
  await join(socket, answer.socket);
}

/** Requests a protocol upgrade from a backend. Any response other than an upgrade or an error status is an error. */
export async function upgradeOf(
  exchange: Exchange,
  backend: Backend,
  request: { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders },
): Promise<Switched | BackendAnswer> {
  const answer = await backend.upgrade({ ...request, signal: exchange.signal }).catch((error: Error) => {
    throw dialFailure(error);
  });
  if (!hasSwitched(answer) && answer.code < 400) {
    answer.body.destroy();
    throw unclassified(`invalid upgrade response: status code ${answer.code}`);
  }
  return answer;
}

function dialFailure({ message }: Error): StatusError {
  return unclassified(`error dialing backend: ${message}`);
}

/** Relays a backend's refusal to upgrade, and closes the connection. */
export async function relayRefusal(socket: Duplex, { code, reason, headers, body }: BackendAnswer): Promise<void> {
  writeHead(socket, code, { ...endToEnd(headers), connection: 'close' }, reason);
  body.pipe(socket);
  await closed(socket);
}
