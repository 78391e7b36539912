import { decodeText } from '../json-document.ts';

/** Thrown if the bytes are not a protobuf message, or not one of the expected kind. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

/** Wire type: the encoding of the value after a tag. */
export type WireType = 0 | 1 | 2 | 5;

/** Reads a protobuf message from start to end. Every read is bounds-checked. */
export class ProtobufReader {
  readonly bytes: Buffer;
  at = 0;
  /** True if the entries of a map were not in canonical order. */
  sawUnsortedMap = false;
  private depth = 0;
  private latin1: string | undefined;
  private lastMap: object | undefined;
  private lastKey = '';

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Reads an unsigned integer below 2^32. Larger values are truncated, which tags and lengths never are. */
  varint32(): number {
    const { bytes } = this;
    const first = bytes[this.at++];
    if (first === undefined) throw unexpectedEnd();
    if (first < 0x80) return first;
    const second = bytes[this.at++];
    if (second === undefined) throw unexpectedEnd();
    if (second < 0x80) return (first & 0x7f) | (second << 7);
    let value = (first & 0x7f) | ((second & 0x7f) << 7);
    for (let shift = 14; shift < 70; shift += 7) {
      const byte = bytes[this.at++];
      if (byte === undefined) throw unexpectedEnd();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new ProtobufError('proto: integer overflow');
  }

  /** Reads a signed 64-bit integer; returns a bigint where a number would not be exact. */
  int64(): number | bigint {
    const { bytes } = this;
    const start = this.at;
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 7; count++) {
      const byte = bytes[this.at++];
      if (byte === undefined) throw unexpectedEnd();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
    return this.wideInt64(start);
  }

  private wideInt64(start: number): number | bigint {
    this.at = start;
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw unexpectedEnd();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      const signed = BigInt.asIntN(64, value);
      const number = Number(signed);
      return Number.isSafeInteger(number) ? number : signed;
    }
    throw new ProtobufError('proto: integer overflow');
  }

  /** Reads a signed integer of which Go keeps the lower 32 bits. */
  int32(): number {
    const value = this.int64();
    return typeof value === 'bigint' ? Number(BigInt.asIntN(32, value)) : Math.abs(value) < 2 ** 31 ? value : value | 0;
  }

  double(): number {
    if (this.at + 8 > this.bytes.length) throw unexpectedEnd();
    this.at += 8;
    return this.bytes.readDoubleLE(this.at - 8);
  }

  /** Reads a length and returns the end of the value that follows. */
  end(limit: number): number {
    const length = this.varint32();
    const end = this.at + length;
    if (end > limit) throw unexpectedEnd();
    return end;
  }

  text(limit: number): string {
    // Go writes every empty string.
    if (this.bytes[this.at] === 0 && this.at < limit) {
      this.at++;
      return '';
    }
    const end = this.end(limit);
    const start = this.at;
    this.at = end;
    const { bytes } = this;
    for (let position = start; position < end; position++) {
      if (bytes[position]! >= 0x80) return decodeText(bytes.subarray(start, end));
    }
    // Short strings are sliced from one large string, which is faster than a native call for each. Longer ones would
    // keep the large string alive.
    if (end - start >= 13) return bytes.toString('latin1', start, end);
    this.latin1 ??= bytes.toString('latin1');
    return this.latin1.substring(start, end);
  }

  chunk(limit: number): Buffer {
    const end = this.end(limit);
    const start = this.at;
    this.at = end;
    return this.bytes.subarray(start, end);
  }

  /** Tracks the order of the entries of a map. */
  noteEntry(map: object, key: string, isFirst: boolean): void {
    if (!isFirst && (map !== this.lastMap || key <= this.lastKey)) this.sawUnsortedMap = true;
    // With surrogates, byte order differs from JavaScript's order.
    if (surrogate.test(key)) this.sawUnsortedMap = true;
    this.lastMap = map;
    this.lastKey = key;
  }

  /** Enters a nested message. */
  enter(): void {
    if (++this.depth > maxDepth) throw new ProtobufError('proto: message is nested too deeply');
  }

  leave(): void {
    this.depth--;
  }

  /** Skips the value of an unknown field. */
  skip(tag: number, limit: number): void {
    let groups = 0;
    for (;;) {
      switch (tag & 7) {
        case 0:
          this.int64();
          break;
        case 1:
          this.at += 8;
          break;
        case 2:
          this.at = this.end(limit);
          break;
        case 3:
          groups++;
          break;
        case 4:
          if (groups === 0) throw new ProtobufError('proto: unexpected end of group');
          groups--;
          break;
        case 5:
          this.at += 4;
          break;
        default:
          throw new ProtobufError(`proto: illegal wireType ${tag & 7}`);
      }
      if (this.at > limit) throw unexpectedEnd();
      if (groups === 0) return;
      tag = this.varint32();
    }
  }
}

const surrogate = /[\ud800-\udfff]/;

// The same bound as for JSON, for the same reason.
const maxDepth = 1000;

/** Returns the error for bytes that end before the message does. */
export function unexpectedEnd(): ProtobufError {
  return new ProtobufError('unexpected EOF');
}
