import { createGzip, type Gzip } from 'node:zlib';
import type { Encoded } from './encode.ts';
import {
  compressedHeaders,
  compressFromBytes,
  type Exchange,
  gzipLevel,
  type Headers,
  isCompressible,
} from './exchange.ts';

/** Chunks of a long list; each is valid until the next but one is requested. */
type Pieces = Exclude<Encoded, string | Uint8Array>;

/** Sends a response. A long list is sent in chunks, so that it is not in memory twice and blocks no other request. */
export async function send(exchange: Exchange, code: number, headers: Headers, encoded: Encoded): Promise<void> {
  if (typeof encoded === 'string') return exchange.send(code, headers, encoded);
  if (encoded instanceof Uint8Array) return exchange.send(code, headers, asBuffer(encoded));
  if (isCompressible(exchange.headers, headers)) return sendCompressed(exchange, code, headers, encoded);
  const stream = exchange.begin(code, headers);
  try {
    if (await passOn(encoded, (piece) => stream.deliver(piece), exchange.signal)) stream.end();
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
const compressedPieceBytes = 64 * 1024;

/**
 * Compresses chunks as they are sent. Node.js compresses in the thread pool, one chunk at a time, so that other
 * requests run meanwhile. A slow client blocks the compressor, which blocks the encoder.
 */
async function sendCompressed(exchange: Exchange, code: number, headers: Headers, pieces: Pieces): Promise<void> {
  const first = await pieces.next();
  const second = await pieces.next();
  if (second.done) {
    const bytes = first.done ? Buffer.alloc(0) : asBuffer(first.value);
    if (bytes.length < compressFromBytes) return exchange.send(code, headers, bytes);
  }
  const { signal } = exchange;
  const gzip = createGzip({ level: gzipLevel, chunkSize: compressedPieceBytes });
  // After a disconnect no client reads the compressor's output, so the compressor would wait forever.
  const stop = () => gzip.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const stream = exchange.begin(code, { ...headers, ...compressedHeaders(headers) });
  const delivered = passOn(readable(gzip), (piece) => stream.deliver(piece), signal);
  try {
    const begun = [first, second].flatMap(({ done, value }) => (done ? [] : [value]));
    if (await passOn(chained(begun, pieces), (piece) => compressed(gzip, piece), signal)) gzip.end();
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
function compressed(gzip: Gzip, piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => gzip.write(piece, () => resolve()));
}

/** Yields the output of a compressor until it ends or is destroyed. */
async function* readable(gzip: Gzip): AsyncGenerator<Uint8Array> {
  try {
    yield* gzip as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (!gzip.destroyed) throw error;
  }
}

async function* chained(begun: readonly Uint8Array[], rest: Pieces): AsyncGenerator<Uint8Array> {
  yield* begun;
  yield* rest;
}

/** Sends chunks in order and encodes the next chunk while one is sent. Returns false if the client disconnected. */
async function passOn(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  deliver: (piece: Uint8Array) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const gone = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  let before = Promise.resolve();
  for await (const piece of pieces) {
    if (signal.aborted) return false;
    const taken = deliver(piece);
    await Promise.race([before, gone]);
    before = taken;
  }
  return !signal.aborted;
}
