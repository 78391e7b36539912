/**
 * gRPC puts before each message a byte that says whether it is compressed, which ours never are, and its length in
 * four bytes.
 */
const headerBytes = 5;

/** A message ready to be sent. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(headerBytes + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, headerBytes);
  return framed;
}

/** Takes messages out of a stream of bytes cut anywhere. */
export interface Deframer {
  /** Takes in the next bytes and gives out the messages they complete. */
  push(chunk: Uint8Array): readonly Uint8Array[];
  /** Whether the bytes end within a message. */
  hasRest(): boolean;
}

/** Makes a {@link Deframer} that throws on a message of more than `maxMessageBytes`. */
export function createDeframer(maxMessageBytes: number): Deframer {
  // Kept apart until a message is complete: to join at every chunk would copy a large message many times over.
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
        if (bytes[offset] !== 0) throw new Error('the message is compressed, which was not asked for');
        const messageBytes = bytes.readUInt32BE(offset + 1);
        if (messageBytes > maxMessageBytes) {
          throw new Error(`a message of ${messageBytes} bytes is more than the ${maxMessageBytes} allowed`);
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
    hasRest: () => sizeBytes > 0,
  };
}
