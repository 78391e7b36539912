/**
 * Writes protobuf from end to start, like Kubernetes' generated code: the length of a message is known when its first
 * byte is written last, so nothing has to be measured beforehand.
 */
export class ProtobufWriter {
  private buffer: Buffer;
  /** Position of the first byte written so far; the last one is at the end of the buffer. */
  private at: number;

  constructor(capacity = startingCapacity) {
    this.buffer = Buffer.allocUnsafeSlow(capacity);
    this.at = capacity;
  }

  /** Returns the number of bytes written. */
  get length(): number {
    return this.buffer.length - this.at;
  }

  /** Returns the written bytes and resets the writer. */
  take(): Uint8Array {
    const bytes = Uint8Array.prototype.slice.call(this.buffer, this.at);
    // A very large object must not hold its memory forever.
    if (this.buffer.length > 1024 * 1024) this.buffer = Buffer.allocUnsafeSlow(startingCapacity);
    this.at = this.buffer.length;
    return bytes;
  }

  /** Discards the written bytes. */
  reset(): void {
    this.at = this.buffer.length;
  }

  private reserve(size: number): void {
    if (this.at >= size) return;
    const used = this.length;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, used + size));
    this.buffer.copy(grown, grown.length - used, this.at);
    this.buffer = grown;
    this.at = grown.length - used;
  }

  byte(value: number): void {
    this.reserve(1);
    this.buffer[--this.at] = value;
  }

  /** Writes a non-negative integer below 2^53. */
  varint(value: number): void {
    this.reserve(8);
    if (value < 0x80) {
      this.buffer[--this.at] = value;
      return;
    }
    if (value < 0x4000) {
      this.buffer[--this.at] = value >>> 7;
      this.buffer[--this.at] = (value & 0x7f) | 0x80;
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    this.at -= size;
    let position = this.at;
    for (; value >= 0x80; value = Math.floor(value / 0x80)) this.buffer[position++] = (value % 0x80) | 0x80;
    this.buffer[position] = value;
  }

  /** Writes a 64-bit integer; a negative one takes ten bytes. */
  int64(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0) {
      this.varint(value);
      return;
    }
    let rest = BigInt.asUintN(64, BigInt(value));
    const bytes: number[] = [];
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.raw(Uint8Array.from(bytes));
  }

  double(value: number): void {
    this.reserve(8);
    this.at -= 8;
    this.buffer.writeDoubleLE(value, this.at);
  }

  /** Writes bytes without their length. */
  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.at -= bytes.length;
    this.buffer.set(bytes, this.at);
  }

  /** Writes bytes, preceded by their length. */
  bytes(bytes: Uint8Array): void {
    this.raw(bytes);
    this.varint(bytes.length);
  }

  /** Writes UTF-8 text, preceded by its length. */
  text(text: string): void {
    const { length } = text;
    if (length === 0) {
      this.byte(0);
      return;
    }
    if (length <= 48) {
      this.reserve(length);
      const { buffer } = this;
      let position = this.at;
      let index = length;
      while (index > 0) {
        const unit = text.charCodeAt(--index);
        if (unit >= 0x80) {
          this.longText(text);
          return;
        }
        buffer[--position] = unit;
      }
      this.at = position;
      this.varint(length);
      return;
    }
    this.longText(text);
  }

  private longText(text: string): void {
    const size = Buffer.byteLength(text);
    this.reserve(size);
    this.at -= size;
    this.buffer.write(text, this.at, size, 'utf8');
    this.varint(size);
  }

  /** Completes a message that started when the writer had `lengthBefore` bytes: writes its length in front. */
  endMessage(lengthBefore: number): void {
    this.varint(this.length - lengthBefore);
  }
}

const startingCapacity = 16 * 1024;
