import { createGzip, type Gzip } from 'node:zlib';
import type { Encoded } from './encoding.ts';
import {
  compressedHeaders,
  compressFromBytes,
  gzipLevel,
  type Headers,
  type HttpRequest,
  isCompressible,
} from './http-request.ts';

/** Chunks of a long list; each is valid until the next but one is requested. */
type Chunks = Exclude<Encoded, string | Uint8Array>;

/** Sends a response. A long list is sent in chunks, so that it is not in memory twice and blocks no other request. */
export async function send(httpRequest: HttpRequest, code: number, headers: Headers, encoded: Encoded): Promise<void> {
  if (typeof encoded === 'string') return httpRequest.send(code, headers, encoded);
  if (encoded instanceof Uint8Array) return httpRequest.send(code, headers, asBuffer(encoded));
  if (isCompressible(httpRequest.headers, headers)) return sendCompressed(httpRequest, code, headers, encoded);
  const stream = httpRequest.begin(code, headers);
  try {
    if (await sendChunks(encoded, (chunk) => stream.deliver(chunk), httpRequest.signal)) stream.end();
  } catch (error) {
    // The headers are sent already: only an aborted response shows the client that it is incomplete.
    stream.abort();
    throw error;
  }
}

/** Returns a Buffer of the same memory: nothing is copied. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Size of one read from the compressor: few enough writes to the client, and little buffered for a slow one. */
const compressedChunkBytes = 64 * 1024;

/**
 * Compresses chunks as they are sent. Node.js compresses in the thread pool, one chunk at a time, so that other
 * requests run meanwhile. A slow client blocks the compressor, which blocks the encoder.
 */
async function sendCompressed(httpRequest: HttpRequest, code: number, headers: Headers, chunks: Chunks): Promise<void> {
  const first = await chunks.next();
  const second = await chunks.next();
  if (second.done) {
    const bytes = first.done ? Buffer.alloc(0) : asBuffer(first.value);
    if (bytes.length < compressFromBytes) return httpRequest.send(code, headers, bytes);
  }
  const { signal } = httpRequest;
  const gzip = createGzip({ level: gzipLevel, chunkSize: compressedChunkBytes });
  // After a disconnect no client reads the compressor's output, so the compressor would wait forever.
  const stop = () => gzip.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const stream = httpRequest.begin(code, { ...headers, ...compressedHeaders(headers) });
  const delivered = sendChunks(readable(gzip), (chunk) => stream.deliver(chunk), signal);
  try {
    const firstChunks = [first, second].flatMap(({ done, value }) => (done ? [] : [value]));
    if (await sendChunks(chained(firstChunks, chunks), (chunk) => compressed(gzip, chunk), signal)) gzip.end();
    if (await delivered) stream.end();
  } catch (error) {
    gzip.destroy();
    await delivered;
    stream.abort();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Resolves when the compressor has read a chunk, so that its buffer may be reused. */
function compressed(gzip: Gzip, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => gzip.write(chunk, () => resolve()));
}

/** Yields the output of a compressor until it ends or is destroyed. */
async function* readable(gzip: Gzip): AsyncGenerator<Uint8Array> {
  try {
    yield* gzip as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (!gzip.destroyed) throw error;
  }
}

async function* chained(firstChunks: readonly Uint8Array[], rest: Chunks): AsyncGenerator<Uint8Array> {
  yield* firstChunks;
  yield* rest;
}

/** Sends chunks in order and encodes the next chunk while one is sent. Returns false if the client disconnected. */
async function sendChunks(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  deliver: (chunk: Uint8Array) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const gone = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  let before = Promise.resolve();
  for await (const chunk of chunks) {
    if (signal.aborted) return false;
    const taken = deliver(chunk);
    await Promise.race([before, gone]);
    before = taken;
  }
  return !signal.aborted;
}
