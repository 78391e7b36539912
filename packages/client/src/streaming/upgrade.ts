import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';

/** A request to speak something other than HTTP from here on, and the socket to do it on. */
export type Upgrade = {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Duplex;
  /** What was read beyond the request. */
  readonly head: Buffer;
};

/** The request cannot be switched over; it was answered with this. */
export class UpgradeRefused extends Error {
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

/** Whether a request asks for another protocol. */
export function isUpgrade(headers: IncomingHttpHeaders): boolean {
  return listOf(headers.connection).some((token) => token.toLowerCase() === 'upgrade');
}

/** Whether a request asks for WebSocket. */
export function isWebSocket(headers: IncomingHttpHeaders): boolean {
  return isUpgrade(headers) && headers.upgrade?.toLowerCase() === 'websocket';
}

/** The items of a header that is a list, over one line or several. */
export function listOf(header: string | readonly string[] | undefined): string[] {
  const lines = header === undefined ? [] : typeof header === 'string' ? [header] : header;
  return lines.flatMap((line) =>
    line
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );
}

/** Writes the head of an answer to a socket that HTTP has let go of. */
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

/** Says no to an upgrade, and hangs up. */
export function refuseUpgrade(
  { socket }: Upgrade,
  code: number,
  message: string,
  headers: { readonly [name: string]: string | readonly string[] } = {},
): UpgradeRefused {
  const body = Buffer.from(`${message}\n`);
  writeHead(socket, code, {
    ...headers,
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(body.length),
    Connection: 'close',
  });
  socket.end(body);
  return new UpgradeRefused(code, message);
}
