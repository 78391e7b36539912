import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { gzip } from 'node:zlib';
import type { Upgrade } from '@kruise/client/streaming/upgrade';
import { tooLarge } from '@kruise/machinery/status';

/** The headers of an answer; several of one name are a list. */
export type Headers = { readonly [name: string]: string | string[] };

/** A request and its answer on the wire, over HTTP/1.1 or HTTP/2 alike. */
export type Exchange = {
  readonly method: string;
  /** The path as it was sent, still encoded. Decisions by path use `RequestInfo.path`. */
  readonly rawPath: string;
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
  /** The query as it was sent, without the question mark. */
  readonly rawQuery: string;
  /** The body as it comes, if there is one; for those who do not call `body`. */
  readonly content: Readable | undefined;
  /** The code of the answer, 0 as long as there is none. */
  answered(): number;
  /** Calls back when nothing more will come or go. */
  whenClosed(callback: () => void): void;
  /** Has whatever is being done for the request stop. An answer already begun is cut off. */
  cancel(reason: unknown): void;
  /** Takes the connection over, where the client asks to speak something else on it. */
  readonly upgrade?: () => Upgrade;
};

export type Stream = {
  /** False if the client does not keep up: what it has not taken piles up. */
  write(chunk: string | Uint8Array): boolean;
  /** Resolves when what piled up has been taken. */
  drained(): Promise<void>;
  readonly pendingBytes: number;
  /** Writes, and resolves when the chunk has been taken: its place may be used for another. */
  deliver(chunk: Uint8Array): Promise<void>;
  end(): void;
  /** Ends it so that the client sees that it is not whole. */
  abort(): void;
};

/** As much as Kubernetes takes. */
export const maxBodyBytes = 3 * 1024 * 1024;
/** From here on compressing pays. */
export const compressFromBytes = 128 * 1024;
/** The fastest level, as in Kubernetes: higher levels take two to four times as long to save a tenth to a third. */
export const gzipLevel = 1;

export function exchangeOf(request: Http2ServerRequest, response: Http2ServerResponse): Exchange {
  const gone = new AbortController();
  // Aborting costs more than most requests do; whoever has been answered need not be told.
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  let answered = 0;
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  const rawQuery = mark < 0 ? '' : url.slice(mark + 1);
  return {
    method: request.method,
    rawPath: mark < 0 ? url : url.slice(0, mark),
    query: new URLSearchParams(rawQuery),
    rawQuery,
    content: hasContent(request) ? request : undefined,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    // The server speaks TLS only; HTTP/2 hands out a guarded view of the same socket.
    socket: (request.stream?.session?.socket ?? request.socket) as TLSSocket,
    signal: gone.signal,
    body: () => readBody(request),
    async send(code, headers, body) {
      let bytes = typeof body === 'string' ? Buffer.from(body) : body;
      let compressed: Headers = {};
      if (bytes.length >= compressFromBytes && isCompressible(request.headers, headers)) {
        bytes = await compress(bytes);
        compressed = compressedHeaders(headers);
      }
      if (response.closed || response.destroyed || answered !== 0) return;
      answered = code;
      response.writeHead(code, { ...headers, ...compressed, 'content-length': String(bytes.length) });
      if (request.method === 'HEAD') response.end();
      else response.end(bytes);
    },
    answered: () => answered,
    whenClosed(callback) {
      if (response.closed) callback();
      else response.once('close', callback);
    },
    cancel(reason) {
      gone.abort(reason);
      if (answered !== 0) response.destroy();
    },
    begin(code, headers) {
      answered = code;
      response.writeHead(code, headers);
      // Whoever watches waits for the headers before anything happens.
      (response as { flushHeaders?: () => void }).flushHeaders?.();
      return {
        write: (chunk) => (response.destroyed ? false : response.write(chunk)),
        drained: () => new Promise((resolve) => response.once('drain', resolve)),
        get pendingBytes() {
          return response.writableLength;
        },
        deliver: (chunk) => new Promise((resolve) => response.write(chunk, () => resolve())),
        end: () => response.end(),
        // Over HTTP/2 only the stream is reset, over HTTP/1.1 the connection is.
        abort: () => response.destroy(),
      };
    },
  };
}

/** A request that asks to switch protocols. It may also be answered as any other; the connection ends with that. */
export function upgradeExchangeOf(request: IncomingMessage, socket: Duplex, head: Buffer): Exchange {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  // Node types the socket of a request as a plain one, whatever the server listens with.
  response.assignSocket(socket as Socket);
  response.once('finish', () => socket.end());
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  socket.on('error', () => socket.destroy());
  return {
    // The compatible part of HTTP/2's requests and answers is made after these.
    ...exchangeOf(request as unknown as Http2ServerRequest, response as unknown as Http2ServerResponse),
    signal: gone.signal,
    whenClosed: (callback) => void (socket.closed ? callback() : socket.once('close', callback)),
    cancel(reason) {
      gone.abort(reason);
      socket.destroy();
    },
    upgrade() {
      response.detachSocket(socket as Socket);
      return { method: request.method ?? '', headers: request.headers, socket, head };
    },
  };
}

/** Whether a body comes with a request, be it empty. */
function hasContent({ headers, stream }: Http2ServerRequest): boolean {
  if (stream) return !stream.endAfterHeaders;
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Reports whether an answer may be compressed: the client accepts gzip, and the answer is not encoded yet. */
export function isCompressible(asked: IncomingHttpHeaders, headers: Headers): boolean {
  const accepted = asked['accept-encoding'];
  if (typeof accepted !== 'string' || headers['content-encoding']) return false;
  return accepted.split(',').some((part) => part.trim().split(';')[0] === 'gzip');
}

/** Returns the headers of a compressed answer. */
export function compressedHeaders({ vary = [] }: Headers): Headers {
  return { 'content-encoding': 'gzip', vary: [vary, 'Accept-Encoding'].flat().join(', ') };
}

function compress(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gzip(bytes, { level: gzipLevel }, (error, compressed) => (error ? reject(error) : resolve(compressed)));
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
