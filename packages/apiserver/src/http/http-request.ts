import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { gzip } from 'node:zlib';
import type { Upgrade } from '@kruise/client/streaming/upgrade';
import { tooLarge } from '@kruise/machinery/status';

/** Response headers; repeated headers are a list. */
export type Headers = { readonly [name: string]: string | string[] };

/** HTTP request and its response, over HTTP/1.1 or HTTP/2. */
export type HttpRequest = {
  readonly method: string;
  /** Path as sent, still encoded. Decisions by path use `RequestInfo.path`. */
  readonly rawPath: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Header names and values as received, one entry per value. */
  readonly rawHeaders: readonly string[];
  readonly socket: TLSSocket;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Reads the complete body. Rejects a body that exceeds the size limit. */
  body(): Promise<Buffer>;
  /** Sends a complete response. */
  send(code: number, headers: Headers, body: string | Buffer): Promise<void>;
  /** Starts a streaming response, which lasts until `end`. */
  begin(code: number, headers: Headers): Stream;
  /** Raw query without the question mark. */
  readonly rawQuery: string;
  /** Body as a stream, if there is one; an alternative to `body`. */
  readonly content: Readable | undefined;
  /** Status code of the response; 0 if there is none yet. */
  statusCode(): number;
  /** Calls back when the request and the response are closed. */
  whenClosed(callback: () => void): void;
  /** Cancels the request. A response that has already started is aborted. */
  cancel(reason: unknown): void;
  /** Takes over the connection of a protocol upgrade request. */
  readonly upgrade?: () => Upgrade;
};

export type Stream = {
  /** Writes a chunk. Returns false if the client does not keep up and data is buffered. */
  write(chunk: string | Uint8Array): boolean;
  /** Resolves when the buffered data has been sent. */
  drained(): Promise<void>;
  readonly pendingBytes: number;
  /** Writes a chunk and resolves when it has been sent, so that its buffer may be reused. */
  deliver(chunk: Uint8Array): Promise<void>;
  end(): void;
  /** Aborts the response, so that the client sees that it is incomplete. */
  abort(): void;
};

/** Maximum size of a request body, as in Kubernetes. */
export const maxBodyBytes = 3 * 1024 * 1024;
/** Minimum size of a compressed response. */
export const compressFromBytes = 128 * 1024;
/** Fastest gzip level, as in Kubernetes: higher levels take two to four times as long to save a tenth to a third. */
export const gzipLevel = 1;

export function toHttpRequest(request: Http2ServerRequest, response: Http2ServerResponse): HttpRequest {
  const disconnected = new AbortController();
  // Aborting costs more than most requests, so a completed request is not aborted.
  response.once('close', () => {
    if (!response.writableFinished) disconnected.abort();
  });
  let statusCode = 0;
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
    // The server only speaks TLS; HTTP/2 exposes a proxy of the same socket.
    socket: (request.stream?.session?.socket ?? request.socket) as TLSSocket,
    signal: disconnected.signal,
    body: () => readBody(request),
    async send(code, headers, body) {
      let bytes = typeof body === 'string' ? Buffer.from(body) : body;
      let compressed: Headers = {};
      if (bytes.length >= compressFromBytes && isCompressible(request.headers, headers)) {
        bytes = await compress(bytes);
        compressed = compressedHeaders(headers);
      }
      if (response.closed || response.destroyed || statusCode !== 0) return;
      statusCode = code;
      response.writeHead(code, { ...headers, ...compressed, 'content-length': String(bytes.length) });
      if (request.method === 'HEAD') response.end();
      else response.end(bytes);
    },
    statusCode: () => statusCode,
    whenClosed(callback) {
      if (response.closed) callback();
      else response.once('close', callback);
    },
    cancel(reason) {
      disconnected.abort(reason);
      if (statusCode !== 0) response.destroy();
    },
    begin(code, headers) {
      statusCode = code;
      response.writeHead(code, headers);
      // Watch clients wait for the headers before the first event.
      (response as { flushHeaders?: () => void }).flushHeaders?.();
      return {
        write: (chunk) => (response.destroyed ? false : response.write(chunk)),
        drained: () => new Promise((resolve) => response.once('drain', resolve)),
        get pendingBytes() {
          return response.writableLength;
        },
        deliver: (chunk) => new Promise((resolve) => response.write(chunk, () => resolve())),
        end: () => response.end(),
        // HTTP/2 resets only the stream; HTTP/1.1 closes the connection.
        abort: () => response.destroy(),
      };
    },
  };
}

/**
 * Creates the request of a protocol upgrade. It may also be answered like any other request; the connection then ends.
 */
export function toUpgradeRequest(request: IncomingMessage, socket: Duplex, head: Buffer): HttpRequest {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  // Node.js types the socket of a request as a plain socket, whatever the server listens with.
  response.assignSocket(socket as Socket);
  response.once('finish', () => socket.end());
  const disconnected = new AbortController();
  socket.once('close', () => disconnected.abort());
  socket.on('error', () => socket.destroy());
  return {
    // The HTTP/2 compatibility API has the same shape as the HTTP/1.1 request and response.
    ...toHttpRequest(request as unknown as Http2ServerRequest, response as unknown as Http2ServerResponse),
    signal: disconnected.signal,
    whenClosed: (callback) => void (socket.closed ? callback() : socket.once('close', callback)),
    cancel(reason) {
      disconnected.abort(reason);
      socket.destroy();
    },
    upgrade() {
      response.detachSocket(socket as Socket);
      return { method: request.method ?? '', headers: request.headers, socket, head };
    },
  };
}

/** Reports whether a request has a body, possibly empty. */
function hasContent({ headers, stream }: Http2ServerRequest): boolean {
  if (stream) return !stream.endAfterHeaders;
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Reports whether a response may be compressed: the client accepts gzip, and the response is not encoded yet. */
export function isCompressible(asked: IncomingHttpHeaders, headers: Headers): boolean {
  const accepted = asked['accept-encoding'];
  if (typeof accepted !== 'string' || headers['content-encoding']) return false;
  return accepted.split(',').some((part) => part.trim().split(';')[0] === 'gzip');
}

/** Returns the headers of a compressed response. */
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
