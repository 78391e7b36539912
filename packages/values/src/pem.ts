/** PEM text: certificates, keys and requests between `-----BEGIN X-----` and `-----END X-----`. */

/** A block of PEM text. */
export type PemBlock = {
  /** The label, for example `CERTIFICATE`. */
  readonly type: string;
  /** The lines between the two boundaries: headers, if any, and base64. */
  readonly content: string;
  /** The whole block with its boundaries. */
  readonly text: string;
};

const begin = '-----BEGIN ';
const end = '-----END ';
const boundary = '-----';

/**
 * Returns the blocks of a text, in order. A block that begins but whose next END boundary has another label is skipped,
 * as Go's decoder does. Takes linear time on any text: the position of the next END boundary is looked up once, however
 * many BEGIN boundaries come before it.
 */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let endsAt = -1;
  for (let at = text.indexOf(begin); at >= 0; ) {
    const labelAt = at + begin.length;
    const lineEnd = lineEndAfter(text, labelAt);
    const line = text.slice(labelAt, lineEnd).trimEnd();
    if (endsAt < labelAt) endsAt = text.indexOf(end, labelAt);
    if (endsAt < 0) return blocks;
    let next = labelAt;
    if (line.length > boundary.length && line.endsWith(boundary)) {
      const type = line.slice(0, -boundary.length);
      const closing = `${end}${type}${boundary}`;
      if (endsAt >= lineEnd && text.startsWith(closing, endsAt)) {
        next = endsAt + closing.length;
        blocks.push({ type, content: text.slice(lineEnd, endsAt).trim(), text: text.slice(at, next) });
      }
    }
    at = text.indexOf(begin, next);
  }
  return blocks;
}

function lineEndAfter(text: string, position: number): number {
  const found = text.indexOf('\n', position);
  return found < 0 ? text.length : found;
}
