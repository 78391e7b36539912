/** Longer than any watch event of a server: protects the memory of the client. */
const maxLineBytes = 256 * 2 ** 20;
const lineFeed = 0x0a;

/** Splits a byte stream into lines. A last line without a line feed is returned with `isComplete: false`. */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  limitBytes = maxLineBytes,
): AsyncGenerator<{ readonly text: string; readonly isComplete: boolean }> {
  // The chunks of a line are joined once, at its end: joining at every chunk would take quadratic time.
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      if (pending.length === 0) {
        yield { text: chunk.toString('utf8', start, end), isComplete: true };
      } else {
        pending.push(chunk.subarray(start, end));
        yield { text: Buffer.concat(pending).toString('utf8'), isComplete: true };
        pending = [];
        pendingBytes = 0;
      }
      start = end + 1;
    }
    if (start < chunk.length) {
      pending.push(start === 0 ? chunk : chunk.subarray(start));
      pendingBytes += chunk.length - start;
      if (pendingBytes > limitBytes) throw new RangeError(`line exceeds ${limitBytes} bytes`);
    }
  }
  if (pending.length > 0) yield { text: Buffer.concat(pending).toString('utf8'), isComplete: false };
}
