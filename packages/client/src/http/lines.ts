/** A line longer than this is no event of any server: what comes is refused before it fills the memory. */
const maxLineBytes = 256 * 2 ** 20;
const lineFeed = 0x0a;

/**
 * Cuts a stream of bytes into its lines, wherever the pieces it comes in begin and end. A line that lacks its end when
 * the stream is over is given too, as `isWhole: false`.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  limitBytes = maxLineBytes,
): AsyncGenerator<{ readonly text: string; readonly isWhole: boolean }> {
  // The pieces of a line are joined once, when its end has come: joining as they come takes time in the square of their
  // number.
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
      if (heldBytes > limitBytes) throw new RangeError(`a line is longer than ${limitBytes} bytes`);
    }
  }
  if (held.length > 0) yield { text: Buffer.concat(held).toString('utf8'), isWhole: false };
}
