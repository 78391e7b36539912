/** The subset of ASN.1 DER that certificates use. */

function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
}

function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const digits: number[] = [];
  for (let rest = bytes; rest > 0; rest >>>= 8) digits.unshift(rest & 0xff);
  return Buffer.from([0x80 | digits.length, ...digits]);
}

/** Encodes a SEQUENCE. */
export const sequence = (...members: readonly Uint8Array[]) => tagged(0x30, ...members);
/** Encodes a SET. */
export const set = (...members: readonly Uint8Array[]) => tagged(0x31, ...members);
/** Encodes a BOOLEAN. */
export const boolean = (value: boolean) => tagged(0x01, Buffer.from([value ? 0xff : 0]));
/** Encodes an OCTET STRING. */
export const octets = (content: Uint8Array) => tagged(0x04, content);
/** Encodes a BIT STRING with a number of unused bits. */
export const bits = (content: Uint8Array, unused = 0) => tagged(0x03, Buffer.from([unused]), content);
/** Encodes a UTF8String. */
export const utf8 = (text: string) => tagged(0x0c, Buffer.from(text));
/** Encodes a value with an explicit context-specific tag. */
export const explicit = (number: number, content: Uint8Array) => tagged(0xa0 | number, content);
/** Encodes a value with an implicit context-specific tag. */
export const implicit = (number: number, content: Uint8Array) => tagged(0x80 | number, content);

/** Encodes an unsigned INTEGER from big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let first = 0;
  while (first < bytes.length - 1 && bytes[first] === 0) first++;
  const significant = bytes.subarray(first);
  const negative = (significant[0] ?? 0) >= 0x80;
  return tagged(0x02, negative ? Buffer.concat([Buffer.from([0]), significant]) : significant);
}

/** Encodes an OBJECT IDENTIFIER: `1.2.840.10045.2.1`. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const digits = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tagged(0x06, Buffer.from(bytes));
}

/** Encodes a time: UTCTime until 2049, then GeneralizedTime, as RFC 5280 requires. */
export function time(instantMs: number): Buffer {
  const text = new Date(instantMs).toISOString().replace(/[-:T]|\.\d+/g, '');
  return text < '2050' ? tagged(0x17, Buffer.from(text.slice(2))) : tagged(0x18, Buffer.from(text));
}

/** A decoded element: its tag, its content, and all of its bytes. */
export type Element = { readonly tag: number; readonly content: Buffer; readonly whole: Buffer };

/** Decodes consecutive elements. Rejects every encoding that is not DER. */
export function read(bytes: Buffer): Element[] {
  const elements: Element[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at]!;
    if ((tag & 0x1f) === 0x1f) throw new Error('malformed DER: unsupported tag');
    if (at + 2 > bytes.length) throw new Error('malformed DER: truncated');
    let size = bytes[at + 1]!;
    let header = 2;
    if (size & 0x80) {
      const digits = size & 0x7f;
      if (digits === 0 || digits > 4) throw new Error('malformed DER: bad length');
      header += digits;
      if (at + header > bytes.length) throw new Error('malformed DER: truncated');
      size = bytes.readUIntBE(at + 2, digits);
      if (size < 0x80 || bytes[at + 2] === 0) throw new Error('malformed DER: non-minimal length');
    }
    const end = at + header + size;
    if (end > bytes.length) throw new Error('malformed DER: truncated');
    elements.push({ tag, content: bytes.subarray(at + header, end), whole: bytes.subarray(at, end) });
    at = end;
  }
  return elements;
}

/** Tags of the required types. */
export const tags = { bitString: 0x03, oid: 0x06, sequence: 0x30, set: 0x31 } as const;

/** Returns an element if it has the required tag; throws otherwise. */
export function expect(element: Element | undefined, tag: number): Element {
  if (!element) throw new Error('malformed DER: truncated');
  if (element.tag !== tag) throw new Error(`malformed DER: tag ${element.tag} where ${tag} must be`);
  return element;
}

/** Decodes bytes as a single SEQUENCE; returns its members. */
export function readSequence(bytes: Buffer): Element[] {
  const [element, ...rest] = read(bytes);
  if (rest.length > 0) throw new Error('malformed DER: trailing data');
  return read(expect(element, tags.sequence).content);
}

/** Decodes an OBJECT IDENTIFIER to dotted form. */
export function readOid(content: Buffer): string {
  const arcs: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    if (arcs.length === 0)
      arcs.push(Math.min(2, Math.floor(value / 40)), value - 40 * Math.min(2, Math.floor(value / 40)));
    else arcs.push(value);
    value = 0;
  }
  return arcs.join('.');
}
