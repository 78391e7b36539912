/** A PEM block: its text, its label, and the content between its first and last line. */
export type PemBlock = { readonly label: string; readonly content: string; readonly text: string };

const begin = '-----BEGIN ';
const dashes = '-----';

/** Finds the blocks of a PEM text in linear time, whatever the text. */
export function* pemBlocks(text: string): Generator<PemBlock> {
  let at = text.indexOf(begin);
  while (at >= 0) {
    const labelEnd = text.indexOf(dashes, at + begin.length);
    if (labelEnd < 0) return;
    const label = text.slice(at + begin.length, labelEnd);
    const contentStart = labelEnd + dashes.length;
    const contentEnd = text.indexOf('-----END ', contentStart);
    if (contentEnd < 0) return;
    const nested = text.lastIndexOf(begin, contentEnd);
    const ending = `-----END ${label}${dashes}`;
    if (nested <= at && text.startsWith(ending, contentEnd)) {
      const end = contentEnd + ending.length;
      yield { label, content: text.slice(contentStart, contentEnd), text: text.slice(at, end) };
      at = text.indexOf(begin, end);
    } else {
      at = text.indexOf(begin, nested > at ? nested : contentEnd);
    }
  }
}

/** Decodes the bytes of a block; undefined if it is not base64, for example because it has headers. */
export function blockBytes({ content }: PemBlock): Buffer | undefined {
  return /^[A-Za-z0-9+/= \t\r\n]+$/.test(content)
    ? Buffer.from(content.replace(/[ \t\r\n]/g, ''), 'base64')
    : undefined;
}

/** Decodes the first block with a label; throws if there is none. */
export function pemBytes(label: string, text: string): Buffer {
  for (const block of pemBlocks(text)) {
    const bytes = block.label === label ? blockBytes(block) : undefined;
    if (bytes) return bytes;
  }
  throw new Error(`no ${label} in PEM text`);
}

/** Encodes bytes as a PEM block. */
export function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
