/**
 * What goes around a kind's message on the wire: four bytes that say it is Kubernetes' protobuf, and a message with
 * the kind's name; and in a watch, for each event, its length and its type.
 */
import { ProtobufError, ProtobufReader } from './codec/protobuf-reader.ts';
import { wrongWireType } from './codec/protobuf-scalar.ts';
import { ProtobufWriter } from './codec/protobuf-writer.ts';

export { ProtobufError } from './codec/protobuf-reader.ts';

/** An object still encoded, and the kind its sender says it is; both names may be empty. */
export type Envelope = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
  readonly contentEncoding: string;
  readonly contentType: string;
};

/** An event of a watch, its object still in its envelope. */
export type EncodedWatchEvent = { readonly type: string; readonly object: Uint8Array };

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

/** Puts a message into its envelope. */
export function encodeEnvelope(apiVersion: string, kind: string, raw: Uint8Array): Uint8Array {
  const { before, after } = envelopeAround(apiVersion, kind, raw.length);
  return Buffer.concat([before, raw, after]);
}

/** What an envelope has before and after a message of so many bytes. */
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

/** An empty content encoding and an empty content type, both of which Go writes. */
const noEncoding = Uint8Array.of(0x1a, 0, 0x22, 0);

/** Opens an envelope. Throws `ProtobufError` where it is none. */
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

/** The fields of a message whose every known field has a length, in the order of their numbers. */
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

/** A frame of a watch: the event, and before it its length in four bytes. */
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

/** The event in a frame, without the frame's length. */
export function decodeWatchEvent(frame: Uint8Array): EncodedWatchEvent {
  const reader = new ProtobufReader(frame);
  const [type, object] = readChunks(reader, frame.length);
  const objectReader = new ProtobufReader(object ?? new Uint8Array());
  const [raw] = readChunks(objectReader, objectReader.bytes.length);
  return { type: textOf(type), object: raw ?? new Uint8Array() };
}

/** The largest frame a client takes. */
const maxFrameBytes = 16 * 1024 * 1024;

/** Cuts a stream of bytes, which arrives in pieces of any size, into frames. */
export function makeFrameSplitter(): (chunk: Uint8Array) => readonly Uint8Array[] {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;

  return (chunk) => {
    pending.push(chunk);
    pendingBytes += chunk.length;
    // Joined only when there may be a whole frame, so that a large one is not copied once for each of its pieces.
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

/** The length the first four bytes announce. */
function announced(chunks: readonly Uint8Array[]): number {
  const first = chunks[0]!.length >= 4 ? chunks[0]! : Buffer.concat(chunks);
  const length = new DataView(first.buffer, first.byteOffset, 4).getUint32(0);
  if (length > maxFrameBytes) throw new ProtobufError('object to decode was longer than maximum allowed size');
  return length;
}
