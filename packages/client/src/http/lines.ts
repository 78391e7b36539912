/** Longer than any watch event of a server: protects the memory of the client. */
const maxLineBytes = 256 * 2 ** 20;
const lineFeed = 0x0a;

/** Splits a byte stream into lines. A last line without a line feed is returned with `isComplete: false`. */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  limitBytes = maxLineBytes,
): AsyncGenerator<{ readonly text: string; readonly isWhole: boolean }> {
  // The chunks of a line are joined once, at its end: joining at every chunk would take quadratic time.
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      if (held.length === 0) {
        yield { text: chunk.toString('utf8', start, end), isWhole: true };
      } else {
        held.push(chunk.subarray(start, end));
        yield { text: Buffer.concat(held).toString('utf8'), isWhole: true };
        held = [];
        heldBytes = 0;
      }
      start = end + 1;
    }
    if (start < chunk.length) {
      held.push(start === 0 ? chunk : chunk.subarray(start));
      heldBytes += chunk.length - start;
      if (heldBytes > limitBytes) throw new RangeError(`line exceeds ${limitBytes} bytes`);
    }
  }
  if (held.length > 0) yield { text: Buffer.concat(held).toString('utf8'), isWhole: false };
}
