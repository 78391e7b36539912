import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { closed, joinSockets } from '@kruise/client/streaming/join';
import { isUpgrade, parseHeaderList, type Upgrade, writeHead } from '@kruise/client/streaming/upgrade';
import { badRequest, type StatusError, unclassified } from '@kruise/machinery/status';
import { tokenProtocol } from '../authentication/bearer-tokens.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { type Backend, type BackendResponse, hasSwitched, type Switched } from './backend.ts';

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
export function forwardedHeaders(httpRequest: HttpRequest): ForwardedHeaders {
  const headers: ForwardedHeaders = {};
  for (const [name, value] of Object.entries(endToEnd(httpRequest.headers))) {
    if (!name.startsWith(':') && !isCredential(name)) headers[name] = value;
  }
  // The offered subprotocols may contain a browser's bearer token.
  const protocols = headers['sec-websocket-protocol'];
  if (protocols !== undefined) {
    headers['sec-websocket-protocol'] = parseHeaderList(protocols)
      .filter((protocol) => !protocol.startsWith(tokenProtocol))
      .join(', ');
  }
  headers.host = httpRequest.headers.host ?? httpRequest.headers[':authority'];
  const before = httpRequest.headers['x-forwarded-for'];
  const from = httpRequest.socket.remoteAddress ?? '';
  headers['x-forwarded-for'] = before === undefined ? from : `${[before].flat().join(', ')}, ${from}`;
  return headers;
}

/** Returns the headers of a request for its backend, with the request to switch protocols. */
export function upgradeHeaders(httpRequest: HttpRequest): ForwardedHeaders {
  return { ...forwardedHeaders(httpRequest), connection: 'Upgrade', upgrade: httpRequest.headers.upgrade };
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
export function takeUpgrade(httpRequest: HttpRequest): Upgrade {
  if (!httpRequest.upgrade || !isUpgrade(httpRequest.headers)) throw badRequest('Upgrade request required');
  return httpRequest.upgrade();
}

/** Connects a client to a backend with the protocol that they negotiate. */
export async function forwardUpgrade(
  httpRequest: HttpRequest,
  backend: Backend,
  request: { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders },
): Promise<void> {
  if (!httpRequest.upgrade || !isUpgrade(httpRequest.headers)) throw badRequest('Upgrade request required');
  const answer = await upgradeOf(httpRequest, backend, request);
  const { socket, head } = httpRequest.upgrade();
  if (!hasSwitched(answer)) {
    await relayRefusal(socket, answer);
    return;
  }
  writeHead(socket, 101, answer.headers, answer.reason);
  if (answer.head.length > 0) socket.write(answer.head);
  if (head.length > 0) answer.socket.write(head);
  await joinSockets(socket, answer.socket);
}

/** Requests a protocol upgrade from a backend. Any response other than an upgrade or an error status is an error. */
export async function upgradeOf(
  httpRequest: HttpRequest,
  backend: Backend,
  request: { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders },
): Promise<Switched | BackendResponse> {
  const answer = await backend.upgrade({ ...request, signal: httpRequest.signal }).catch((error: Error) => {
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
export async function relayRefusal(socket: Duplex, { code, reason, headers, body }: BackendResponse): Promise<void> {
  writeHead(socket, code, { ...endToEnd(headers), connection: 'close' }, reason);
  body.pipe(socket);
  await closed(socket);
}
