/** Chunk size: large enough that the overhead of a write is small, and small enough for the CPU cache. */
const chunkBytes = 256 * 1024;
/** Maximum UTF-8 bytes of a UTF-16 code unit. */
const bytesPerUnit = 3;

/**
 * Encodes texts in chunks. Two buffers alternate: a chunk can be encoded while the previous one is sent, and a request
 * for the next chunk implies that the one before the previous has been sent.
 */
export function* textChunks(texts: Iterable<readonly string[]>): Generator<Buffer> {
  let place: Buffer = Buffer.allocUnsafeSlow(chunkBytes);
  let other: Buffer | undefined;
  let length = 0;
  for (const parts of texts) {
    for (const part of parts) {
      const mostBytes = part.length * bytesPerUnit;
      if (length > 0 && length + mostBytes > chunkBytes) {
        yield place.subarray(0, length);
        [place, other] = [other ?? Buffer.allocUnsafeSlow(chunkBytes), place];
        length = 0;
      }
      if (mostBytes > chunkBytes) yield Buffer.from(part);
      else length += place.write(part, length);
    }
  }
  if (length > 0) yield place.subarray(0, length);
}
