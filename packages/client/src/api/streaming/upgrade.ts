import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';

/** An HTTP upgrade request and its socket. */
export type Upgrade = {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Duplex;
  /** Bytes that were read after the request. */
  readonly head: Buffer;
};

/** The upgrade failed; the request was answered with this response. */
export class UpgradeRejectedError extends Error {
  override readonly name = 'UpgradeRefused';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const reasons: { readonly [code: number]: string } = {
  101: 'Switching Protocols',
  400: 'Bad Request',
  403: 'Forbidden',
};

/** Reports whether a request asks for an upgrade. */
export function isUpgrade(headers: IncomingHttpHeaders): boolean {
  return parseHeaderList(headers.connection).some((token) => token.toLowerCase() === 'upgrade');
}

/** Reports whether a request asks for a WebSocket. */
export function isWebSocket(headers: IncomingHttpHeaders): boolean {
  return isUpgrade(headers) && headers.upgrade?.toLowerCase() === 'websocket';
}

/** Returns the items of a list header, also over several lines. */
export function parseHeaderList(header: string | readonly string[] | undefined): string[] {
  const lines = header === undefined ? [] : typeof header === 'string' ? [header] : header;
  return lines.flatMap((line) =>
    line
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );
}

/** Writes the head of a response to a socket that is detached from HTTP. */
export function writeHead(
  socket: Duplex,
  code: number,
  headers: { readonly [name: string]: string | readonly string[] | undefined },
  reason = reasons[code] ?? '',
): void {
  let text = `HTTP/1.1 ${code} ${reason}\r\n`;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    for (const each of typeof value === 'string' ? [value] : value) text += `${name}: ${each}\r\n`;
  }
  socket.write(Buffer.from(`${text}\r\n`, 'latin1'));
}

/**
 * Rejects an upgrade and closes the connection.
 *
 * ```ts
 * if (!isWebSocket(headers)) throw rejectUpgrade(upgrade, 400, 'expected a WebSocket');
 * ```
 */
export function rejectUpgrade(
  { socket }: Upgrade,
  code: number,
  message: string,
  headers: { readonly [name: string]: string | readonly string[] } = {},
): UpgradeRejectedError {
  const body = Buffer.from(`${message}\n`);
  writeHead(socket, code, {
    ...headers,
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(body.length),
    Connection: 'close',
  });
  socket.end(body);
  return new UpgradeRejectedError(code, message);
}
