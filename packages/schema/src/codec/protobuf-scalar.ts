/** Codecs of values without a nested schema in protobuf, in Kubernetes' encoding. */
import { decodeBase64, encodeBase64 } from '@kruise/values/base64';
import { formatDuration, parseDuration } from '@kruise/values/duration';
import { stringify } from '@kruise/values/go-json';
import { ParseError } from '@kruise/values/parse-error';
import { canonicalQuantity } from '@kruise/values/quantity';
import { formatMicroTime, formatTime, parseMicroTime, parseTime, zeroInstant } from '@kruise/values/time';
import { parseJson } from '../json-text.ts';
import { ProtobufError, type ProtobufReader, type WireType } from './protobuf-reader.ts';
import type { ProtobufWriter } from './protobuf-writer.ts';

/** Writes a value after its tag, with its length if needed, and reads it. */
export type ValueCodec = {
  readonly wireType: WireType;
  /** Null is written as Go's zero value. */
  readonly write: (writer: ProtobufWriter, value: unknown) => void;
  readonly read: (reader: ProtobufReader, limit: number) => unknown;
};

/** UTF-8 text. */
export const textCodec: ValueCodec = {
  wireType: 2,
  write: (writer, value) => writer.text((value as string | null) ?? ''),
  read: (reader, limit) => reader.text(limit),
};

/** A boolean in one byte, 0 or 1. */
export const booleanCodec: ValueCodec = {
  wireType: 0,
  write: (writer, value) => writer.byte(value ? 1 : 0),
  read: (reader) => reader.int64() !== 0,
};

/** A varint, of which Go keeps 32 bits. */
export const int32Codec: ValueCodec = {
  wireType: 0,
  write: (writer, value) => writer.int64((value as number | null) ?? 0),
  read: (reader) => reader.int32(),
};

/** A varint; beyond 2^53 a bigint. */
export const int64Codec: ValueCodec = {
  wireType: 0,
  write: (writer, value) => writer.int64((value as number | bigint | null) ?? 0),
  read: (reader) => reader.int64(),
};

/** Eight bytes. */
export const doubleCodec: ValueCodec = {
  wireType: 1,
  write: (writer, value) => writer.double((value as number | null) ?? 0),
  read: (reader) => reader.double(),
};

/** Bytes, which JSON has in base64. */
export const bytesCodec: ValueCodec = {
  wireType: 2,
  write: (writer, value) => writer.bytes(decodeBase64((value as string | null) ?? '')),
  read: (reader, limit) => encodeBase64(reader.chunk(limit)),
};

/** Creates the codec of a message with a few numbered fields. Fields that `fields` does not handle are skipped. */
function message<T>(
  start: () => T,
  fields: { readonly [number: number]: (reader: ProtobufReader, limit: number, into: T) => void },
  wireTypes: { readonly [number: number]: WireType },
): (reader: ProtobufReader, limit: number) => T {
  return (reader, limit) => {
    const end = reader.end(limit);
    const into = start();
    while (reader.at < end) {
      const tag = reader.varint32();
      const number = tag >>> 3;
      const field = fields[number];
      if (field === undefined) {
        reader.skip(tag, end);
        continue;
      }
      if (wireTypes[number] !== (tag & 7)) throw wrongWireType(tag & 7, String(number));
      field(reader, end, into);
    }
    if (reader.at !== end) throw new ProtobufError('unexpected EOF');
    return into;
  };
}

/** Returns the error for a wire type that does not match the schema. */
export function wrongWireType(wireType: number, field: string): ProtobufError {
  return new ProtobufError(`proto: wrong wireType = ${wireType} for field ${field}`);
}

type Timestamp = { seconds: number | bigint; nanos: number; isEmpty: boolean };
const readTimestamp = message<Timestamp>(
  () => ({ seconds: 0, nanos: 0, isEmpty: true }),
  {
    1: (reader, _limit, into) => {
      into.seconds = reader.int64();
      into.isEmpty = false;
    },
    2: (reader, _limit, into) => {
      into.nanos = reader.int32();
      into.isEmpty = false;
    },
  },
  { 1: 0, 2: 0 },
);

function instantCodec(
  parse: (text: string) => number,
  format: (instant: number) => string,
  keepsFraction: boolean,
): ValueCodec {
  // Most times of an object equal the previous one, and formatting takes longer than parsing.
  let lastInstant = 0;
  let lastText = format(0);
  return {
    wireType: 2,
    write(writer, value) {
      const before = writer.length;
      if (value != null) {
        const microseconds = Math.round(parse(value as string) * 1000);
        const seconds = Math.floor(microseconds / 1e6);
        writer.int64(keepsFraction ? (microseconds - seconds * 1e6) * 1000 : 0);
        writer.byte(0x10);
        writer.int64(seconds);
        writer.byte(0x08);
      }
      writer.endMessage(before);
    },
    read(reader, limit) {
      const { seconds, nanos, isEmpty } = readTimestamp(reader, limit);
      if (isEmpty) return null;
      const instant = Number(seconds) * 1000 + (keepsFraction ? Math.trunc(nanos / 1000) / 1000 : 0);
      if (instant === zeroInstant) return null;
      if (Math.abs(instant) > maxInstant) throw new ProtobufError('time is out of range');
      if (instant !== lastInstant) {
        lastText = format(instant);
        lastInstant = instant;
      }
      return lastText;
    },
  };
}

/** Largest instant of a JavaScript date. */
const maxInstant = 8.64e15;

/** Seconds since 1970; an empty message means no time. */
export const timeCodec = instantCodec(parseTime, formatTime, false);
/** Seconds and nanoseconds since 1970, to the microsecond. */
export const microTimeCodec = instantCodec(parseMicroTime, formatMicroTime, true);

const readDuration = message<{ nanoseconds: number | bigint }>(
  () => ({ nanoseconds: 0 }),
  {
    1: (reader, _limit, into) => {
      into.nanoseconds = reader.int64();
    },
  },
  { 1: 0 },
);

/** A duration in nanoseconds. */
export const durationCodec: ValueCodec = {
  wireType: 2,
  write(writer, value) {
    const before = writer.length;
    writer.int64(value == null ? 0 : parseDuration(value as string));
    writer.byte(0x08);
    writer.endMessage(before);
  },
  read: (reader, limit) => formatDuration(BigInt(readDuration(reader, limit).nanoseconds)),
};

const readQuantity = message<{ text: string }>(
  () => ({ text: '0' }),
  {
    1: (reader, limit, into) => {
      into.text = reader.text(limit);
    },
  },
  { 1: 2 },
);

/** The canonical text, in its own message. */
export const quantityCodec: ValueCodec = {
  wireType: 2,
  write(writer, value) {
    const before = writer.length;
    writer.text((value as string | null) ?? '0');
    writer.byte(0x0a);
    writer.endMessage(before);
  },
  read(reader, limit) {
    const { text } = readQuantity(reader, limit);
    try {
      return canonicalQuantity(text);
    } catch (error) {
      throw error instanceof ParseError ? new ProtobufError(error.message) : error;
    }
  },
};

const readIntOrString = message<{ type: number; number: number; text: string }>(
  () => ({ type: 0, number: 0, text: '' }),
  {
    1: (reader, _limit, into) => {
      into.type = reader.int32();
    },
    2: (reader, _limit, into) => {
      into.number = reader.int32();
    },
    3: (reader, limit, into) => {
      into.text = reader.text(limit);
    },
  },
  { 1: 0, 2: 0, 3: 2 },
);

/** The type of the value, and both fields. */
export const intOrStringCodec: ValueCodec = {
  wireType: 2,
  write(writer, value) {
    const isText = typeof value === 'string';
    const before = writer.length;
    writer.text(isText ? value : '');
    writer.byte(0x1a);
    writer.int64(isText ? 0 : ((value as number | null) ?? 0));
    writer.byte(0x10);
    writer.byte(isText ? 1 : 0);
    writer.byte(0x08);
    writer.endMessage(before);
  },
  read(reader, limit) {
    const { type, number, text } = readIntOrString(reader, limit);
    return type === 1 ? text : number;
  },
};

const readRaw = message<{ raw: Uint8Array | undefined }>(
  () => ({ raw: undefined }),
  {
    1: (reader, limit, into) => {
      into.raw = reader.chunk(limit);
    },
  },
  { 1: 2 },
);

/** JSON within protobuf: embedded objects, field sets, defaults of schemas. */
export const rawCodec: ValueCodec = {
  wireType: 2,
  write(writer, value) {
    const before = writer.length;
    if (value != null) {
      writer.text(stringify(value));
      writer.byte(0x0a);
    }
    writer.endMessage(before);
  },
  read(reader, limit) {
    const { raw } = readRaw(reader, limit);
    return raw === undefined || raw.length === 0 ? null : parseJson(raw);
  },
};
