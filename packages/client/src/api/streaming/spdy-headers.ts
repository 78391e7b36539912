import { constants, createInflate } from 'node:zlib';

/** Headers of a SPDY stream by lower-case name; several values of one name are a list. */
export type SpdyHeaders = { readonly [name: string]: string | readonly string[] };

/** Limit of the headers of one frame; those of Kubernetes have a few dozen bytes. */
const maxHeaderBytes = 64 * 1024;

/** Words of the SPDY/3 compression dictionary. */
const dictionaryWords =
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow ' +
  'authorization cache-control connection content-base content-encoding content-language content-length ' +
  'content-location content-md5 content-range content-type date etag expect expires from host if-match ' +
  'if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma ' +
  'proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade ' +
  'user-agent vary via warning www-authenticate method get status';
const dictionaryTail =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505' +
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized' +
  '403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable' +
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT' +
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,' +
  'text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.';

/** An empty zlib block, which flushes zlib decoders; Go's decoder would wait for more data. */
const flushMark = Buffer.of(0, 0, 0, 0xff, 0xff);

/** Compression dictionary of SPDY/3: length-prefixed words and a tail. */
export const spdyDictionary = Buffer.concat([
  ...[
    ...dictionaryWords.split(' '),
    '200 OK',
    'version',
    'HTTP/1.1',
    'url',
    'public',
    'set-cookie',
    'keep-alive',
    'origin',
  ].map(lengthPrefixed),
  Buffer.from(dictionaryTail),
]);

/**
 * Encodes header blocks. SPDY compresses all headers of a connection as one zlib stream. Here they are stored
 * uncompressed in it, which every zlib decoder accepts: there are only a few dozen bytes per stream, and compression
 * would delay each frame by a worker thread.
 */
export function createHeaderEncoder(): (headers: SpdyHeaders) => Buffer {
  let hasStarted = false;
  return (headers) => {
    const entries = Object.entries(headers);
    const parts = [uint32(entries.length)];
    for (const [name, value] of entries) {
      parts.push(lengthPrefixed(name), lengthPrefixed(typeof value === 'string' ? value : value.join('\0')));
    }
    const block = Buffer.concat(parts);
    if (block.length > 0xffff) throw new Error('headers too long');
    const start = hasStarted ? [] : [0x78, 0x01];
    hasStarted = true;
    const { length } = block;
    const inverse = ~length & 0xffff;
    const stored = [...start, 0, length & 0xff, length >> 8, inverse & 0xff, inverse >> 8];
    return Buffer.concat([Buffer.from(stored), block, flushMark]);
  };
}

/** Decodes the header blocks of one connection in order. */
export type HeaderDecoder = {
  decode(block: Uint8Array): Promise<SpdyHeaders>;
  close(): void;
};

/**
 * Creates a decoder. An invalid block rejects and ends the connection, because the following blocks cannot be decoded.
 */
export function createHeaderDecoder(): HeaderDecoder {
  const inflate = createInflate({ dictionary: spdyDictionary, flush: constants.Z_SYNC_FLUSH });
  let chunks: Buffer[] = [];
  let size = 0;
  let failed: Error | undefined;
  inflate.on('error', (error) => {
    failed ??= error;
  });
  inflate.on('data', (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size > maxHeaderBytes) inflate.destroy(new Error(`headers exceed ${maxHeaderBytes} bytes`));
  });

  return {
    async decode(block) {
      await new Promise<void>((resolve, reject) => {
        if (failed) {
          reject(failed);
          return;
        }
        const settle = () => {
          inflate.off('error', settle);
          inflate.off('close', settle);
          if (failed) reject(failed);
          else if (inflate.destroyed) reject(new Error('the connection is closed'));
          else resolve();
        };
        inflate.once('error', settle);
        inflate.once('close', settle);
        inflate.write(block, settle);
      });
      const bytes = Buffer.concat(chunks);
      chunks = [];
      size = 0;
      return parseHeaders(bytes);
    },
    close: () => inflate.destroy(),
  };
}

function parseHeaders(bytes: Buffer): SpdyHeaders {
  const headers: { [name: string]: string | string[] } = Object.create(null);
  let at = 0;
  const take = (length: number): Buffer => {
    if (length > bytes.length - at) throw new Error('header block is truncated');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const count = take(4).readUInt32BE();
  for (let index = 0; index < count; index++) {
    const name = take(take(4).readUInt32BE()).toString();
    const value = take(take(4).readUInt32BE()).toString();
    if (name === '' || name !== name.toLowerCase() || name in headers)
      throw new Error(`invalid header name ${JSON.stringify(name)}`);
    headers[name] = value.includes('\0') ? value.split('\0') : value;
  }
  if (at !== bytes.length) throw new Error('header block is longer than its length fields');
  return headers;
}

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
