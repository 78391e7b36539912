/** Large enough that writing a piece costs little beside its bytes, small enough to stay in a processor's cache. */
const pieceBytes = 256 * 1024;
/** What one unit of a text may take in UTF-8. */
const bytesPerUnit = 3;

/**
 * The bytes of texts that follow each other, in pieces. The place of one piece is that of the next but one: a piece can be
 * made while the one before is on its way, and whoever asks for another is done with that one.
 */
export function* textPieces(texts: Iterable<readonly string[]>): Generator<Buffer> {
  let place: Buffer = Buffer.allocUnsafeSlow(pieceBytes);
  let other: Buffer | undefined;
  let length = 0;
  for (const parts of texts) {
    for (const part of parts) {
      const mostBytes = part.length * bytesPerUnit;
      if (length > 0 && length + mostBytes > pieceBytes) {
        yield place.subarray(0, length);
        [place, other] = [other ?? Buffer.allocUnsafeSlow(pieceBytes), place];
        length = 0;
      }
      if (mostBytes > pieceBytes) yield Buffer.from(part);
      else length += place.write(part, length);
    }
  }
  if (length > 0) yield place.subarray(0, length);
}
