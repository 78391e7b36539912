/** Message prefix of gRPC: a compression flag in one byte (never set here) and the length in four bytes. */
const headerBytes = 5;

/** Returns a message with its gRPC prefix. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(headerBytes + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, headerBytes);
  return framed;
}

/** Splits a byte stream into gRPC messages. */
export interface Deframer {
  /** Adds bytes; returns the messages that are complete now. */
  push(chunk: Uint8Array): readonly Uint8Array[];
  /** Reports whether the bytes end within a message. */
  hasPartialMessage(): boolean;
}

/** Creates a {@link Deframer} that throws on a message of more than `maxMessageBytes`. */
export function createDeframer(maxMessageBytes: number): Deframer {
  // Chunks are joined only when a message is complete: joining at every chunk would copy a large message many times.
  let chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  let neededBytes = headerBytes;

  return {
    push(chunk) {
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes < neededBytes) return [];
      const bytes =
        chunks.length === 1 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat(chunks);
      const messages: Uint8Array[] = [];
      let offset = 0;
      for (;;) {
        neededBytes = headerBytes;
        if (bytes.length - offset < neededBytes) break;
        if (bytes[offset] !== 0) throw new Error('the message is compressed, but compression was not negotiated');
        const messageBytes = bytes.readUInt32BE(offset + 1);
        if (messageBytes > maxMessageBytes) {
          throw new Error(`message of ${messageBytes} bytes exceeds the limit of ${maxMessageBytes} bytes`);
        }
        neededBytes = headerBytes + messageBytes;
        if (bytes.length - offset < neededBytes) break;
        messages.push(bytes.subarray(offset + headerBytes, offset + neededBytes));
        offset += neededBytes;
      }
      chunks = offset < bytes.length ? [bytes.subarray(offset)] : [];
      sizeBytes = bytes.length - offset;
      return messages;
    },
    hasPartialMessage: () => sizeBytes > 0,
  };
}
