/**
 * Envelope of a kind's message on the wire: four magic bytes of Kubernetes' protobuf and a message with the name of the
 * kind; in a watch, also the length and the type of each event.
 */
import { ProtobufError, ProtobufReader } from './codec/protobuf-reader.ts';
import { wrongWireType } from './codec/protobuf-scalar.ts';
import { ProtobufWriter } from './codec/protobuf-writer.ts';

export { ProtobufError } from './codec/protobuf-reader.ts';

/** An encoded object, and the kind that its sender declares; both names may be empty. */
export type Envelope = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
  readonly contentEncoding: string;
  readonly contentType: string;
};

/** A watch event whose object is still in its envelope. */
export type EncodedWatchEvent = { readonly type: string; readonly object: Uint8Array };

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

/**
 * Wraps a message in its envelope.
 *
 * ```ts
 * const body = encodeEnvelope('v1', 'Pod', codecOf(pod.root).toProtobuf(web));
 * ```
 */
export function encodeEnvelope(apiVersion: string, kind: string, raw: Uint8Array): Uint8Array {
  const { before, after } = envelopeAround(apiVersion, kind, raw.length);
  return Buffer.concat([before, raw, after]);
}

/** Returns the bytes before and after a message of a given length. */
export function envelopeAround(
  apiVersion: string,
  kind: string,
  size: number,
): { readonly before: Uint8Array; readonly after: Uint8Array } {
  const writer = new ProtobufWriter(apiVersion.length * 3 + kind.length * 3 + 64);
  writer.varint(size);
  writer.byte(0x12);
  const { length } = writer;
  writer.text(kind);
  writer.byte(0x12);
  writer.text(apiVersion);
  writer.byte(0x0a);
  writer.endMessage(length);
  writer.byte(0x0a);
  writer.raw(magic);
  return { before: writer.take(), after: noEncoding };
}

/** Empty content encoding and empty content type, which Go writes. */
const noEncoding = Uint8Array.of(0x1a, 0, 0x22, 0);

/** Unwraps an envelope. Throws `ProtobufError` if the bytes are not an envelope. */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new ProtobufError('empty data');
  if (!magic.every((byte, index) => bytes[index] === byte)) {
    throw new ProtobufError(
      `provided data does not appear to be a protobuf message, expected prefix [${magic.join(' ')}]`,
    );
  }
  if (bytes.length === magic.length) throw new ProtobufError('empty body');
  const reader = new ProtobufReader(bytes.subarray(magic.length));
  const [typeMeta, raw, contentEncoding, contentType] = readChunks(reader, reader.bytes.length);
  const typeReader = new ProtobufReader(typeMeta ?? new Uint8Array());
  const [apiVersion, kind] = readChunks(typeReader, typeReader.bytes.length);
  return {
    apiVersion: textOf(apiVersion),
    kind: textOf(kind),
    raw: raw ?? new Uint8Array(),
    contentEncoding: textOf(contentEncoding),
    contentType: textOf(contentType),
  };
}

/** Reads the length-delimited fields of a message, in the order of their numbers. */
function readChunks(reader: ProtobufReader, end: number): readonly (Uint8Array | undefined)[] {
  const chunks: (Uint8Array | undefined)[] = [undefined, undefined, undefined, undefined];
  while (reader.at < end) {
    const tag = reader.varint32();
    const number = tag >>> 3;
    if (number === 0 || number > chunks.length) reader.skip(tag, end);
    else if ((tag & 7) !== 2) throw wrongWireType(tag & 7, String(number));
    else chunks[number - 1] = reader.chunk(end);
  }
  return chunks;
}

function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : Buffer.from(bytes).toString('utf8');
}

/** Returns a watch frame: the event, preceded by its length in four bytes. */
export function encodeWatchFrame({ type, object }: EncodedWatchEvent): Uint8Array {
  const writer = new ProtobufWriter(object.length + 64);
  const beforeObject = writer.length;
  writer.bytes(object);
  writer.byte(0x0a);
  writer.endMessage(beforeObject);
  writer.byte(0x12);
  writer.text(type);
  writer.byte(0x0a);
  const { length } = writer;
  writer.raw(Uint8Array.of(length >>> 24, length >>> 16, length >>> 8, length));
  return writer.take();
}

/** Decodes the event of a frame, without the frame's length. */
export function decodeWatchEvent(frame: Uint8Array): EncodedWatchEvent {
  const reader = new ProtobufReader(frame);
  const [type, object] = readChunks(reader, frame.length);
  const objectReader = new ProtobufReader(object ?? new Uint8Array());
  const [raw] = readChunks(objectReader, objectReader.bytes.length);
  return { type: textOf(type), object: raw ?? new Uint8Array() };
}

/** Maximum size of a frame that a client accepts. */
const maxFrameBytes = 16 * 1024 * 1024;

/** Returns a function that splits a stream of chunks into frames. */
export function makeFrameSplitter(): (chunk: Uint8Array) => readonly Uint8Array[] {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;

  return (chunk) => {
    pending.push(chunk);
    pendingBytes += chunk.length;
    // Chunks are joined only when a frame may be complete, so that a large frame is not copied once per chunk.
    if (pendingBytes < 4 || pendingBytes < 4 + announced(pending)) return [];
    let rest: Uint8Array = pending.length === 1 ? chunk : Buffer.concat(pending);
    const frames: Uint8Array[] = [];
    while (rest.length >= 4 && rest.length >= 4 + announced([rest])) {
      const end = 4 + announced([rest]);
      frames.push(rest.subarray(4, end));
      rest = rest.subarray(end);
    }
    pending = rest.length === 0 ? [] : [rest];
    pendingBytes = rest.length;
    return frames;
  };
}

/** Returns the length that the first four bytes announce. */
function announced(chunks: readonly Uint8Array[]): number {
  const first = chunks[0]!.length >= 4 ? chunks[0]! : Buffer.concat(chunks);
  const length = new DataView(first.buffer, first.byteOffset, 4).getUint32(0);
  if (length > maxFrameBytes) throw new ProtobufError('object to decode was longer than maximum allowed size');
  return length;
}
