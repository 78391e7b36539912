import type { IncomingHttpHeaders } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { gzip } from 'node:zlib';
import { tooLarge } from '@kruise/machinery/status';

/** The headers of an answer; several of one name are a list. */
export type Headers = { readonly [name: string]: string | string[] };

/** A request and its answer on the wire, over HTTP/1.1 or HTTP/2 alike. */
export type Exchange = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Names and values as they came, each value by itself. */
  readonly rawHeaders: readonly string[];
  readonly socket: TLSSocket;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** The body, whole. Refused if it is larger than the server takes. */
  body(): Promise<Buffer>;
  /** Answers at once. */
  send(code: number, headers: Headers, body: string | Buffer): Promise<void>;
  /** Begins an answer that goes on until `end`. */
  begin(code: number, headers: Headers): Stream;
};

export type Stream = {
  /** False if the client does not keep up: what it has not taken piles up. */
  write(chunk: string | Buffer): boolean;
  /** Resolves when what piled up has been taken. */
  drained(): Promise<void>;
  readonly pendingBytes: number;
  end(): void;
};

/** As much as Kubernetes takes. */
export const maxBodyBytes = 3 * 1024 * 1024;
/** From here on compressing pays. */
const compressFromBytes = 128 * 1024;

export function exchangeOf(request: Http2ServerRequest, response: Http2ServerResponse): Exchange {
  const gone = new AbortController();
  // Aborting costs more than most requests do; whoever has been answered need not be told.
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  return {
    method: request.method,
    path: mark < 0 ? url : url.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    // The server speaks TLS only; HTTP/2 hands out a guarded view of the same socket.
    socket: (request.stream?.session?.socket ?? request.socket) as TLSSocket,
    signal: gone.signal,
    body: () => readBody(request),
    async send(code, headers, body) {
      let bytes = typeof body === 'string' ? Buffer.from(body) : body;
      let compressed: Headers = {};
      if (bytes.length >= compressFromBytes && accepts(request.headers, 'gzip') && !headers['content-encoding']) {
        bytes = await compress(bytes);
        compressed = { 'content-encoding': 'gzip', vary: 'Accept-Encoding' };
      }
      if (response.closed || response.destroyed) return;
      response.writeHead(code, { ...headers, ...compressed, 'content-length': String(bytes.length) });
      if (request.method === 'HEAD') response.end();
      else response.end(bytes);
    },
    begin(code, headers) {
      response.writeHead(code, headers);
      // Whoever watches waits for the headers before anything happens.
      (response as { flushHeaders?: () => void }).flushHeaders?.();
      return {
        write: (chunk) => (response.destroyed ? false : response.write(chunk)),
        drained: () => new Promise((resolve) => response.once('drain', resolve)),
        get pendingBytes() {
          return response.writableLength;
        },
        end: () => response.end(),
      };
    },
  };
}

function accepts(headers: IncomingHttpHeaders, encoding: string): boolean {
  const accepted = headers['accept-encoding'];
  return typeof accepted === 'string' && accepted.split(',').some((part) => part.trim().split(';')[0] === encoding);
}

function compress(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gzip(bytes, { level: 1 }, (error, compressed) => (error ? reject(error) : resolve(compressed)));
  });
}

function readBody(request: Http2ServerRequest): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBodyBytes) {
        chunks.length = 0;
        reject(tooLarge(`limit is ${maxBodyBytes}`));
        request.resume();
      } else chunks.push(chunk);
    });
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.once('error', reject);
    request.once('aborted', () => reject(new Error('the client went away')));
  });
}
