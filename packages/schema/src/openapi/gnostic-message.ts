/** Encodings for gnostic's messages in both versions of OpenAPI. */
import { ProtobufWriter } from '../codec/protobuf-writer.ts';
import type { Json } from './definitions.ts';

/** Encodes a message by its table. */
export function encodeMessage(table: Message, value: Json): Uint8Array {
  const writer = new ProtobufWriter();
  writeFields(writer, table, value);
  return writer.take();
}

/** Encoding of a value, without its tag, but with its length if needed. */
export type Encoding = {
  readonly wire: 0 | 1 | 2;
  readonly write: (writer: ProtobufWriter, value: unknown) => void;
  /** Each item is a separate field. */
  readonly repeated?: true;
};

/** Field numbers by the names of members; `extensions` is the number for members that begin with `x-`. */
export type Message = {
  readonly extensions?: number;
  readonly fields: { readonly [member: string]: readonly [number: number, encoding: Encoding] };
};

// Writes fields from last to first, because the writer works backwards.
function writeFields(writer: ProtobufWriter, { fields, extensions }: Message, value: Json): void {
  for (const [member, part] of Object.entries(value).reverse()) {
    const field = Object.hasOwn(fields, member) ? fields[member] : undefined;
    if (field) writeField(writer, field[0], field[1], part);
    else if (extensions !== undefined && member.startsWith('x-')) {
      writeField(writer, extensions, namedAny, { name: member, value: part });
    }
  }
}

function writeField(writer: ProtobufWriter, number: number, encoding: Encoding, value: unknown): void {
  const values = encoding.repeated ? (value as readonly unknown[]).toReversed() : [value];
  for (const each of values) {
    encoding.write(writer, each);
    writer.varint(number * 8 + encoding.wire);
  }
}

/** A text. */
export const text: Encoding = { wire: 2, write: (writer, value) => writer.text(value as string) };
/** Yes or no. */
export const flag: Encoding = { wire: 0, write: (writer, value) => writer.varint(value ? 1 : 0) };
/** A whole number. */
export const integer: Encoding = { wire: 0, write: (writer, value) => writer.int64(value as number) };
/** Any number. */
export const double: Encoding = { wire: 1, write: (writer, value) => writer.double(value as number) };

/** Creates the encoding of a list with each item as a separate field. */
export function repeated(encoding: Encoding): Encoding {
  return { ...encoding, repeated: true };
}

/** Creates the encoding of a message. Its table is created on first use, because schemas are recursive. */
export function message(table: () => Message): Encoding {
  let made: Message | undefined;
  return {
    wire: 2,
    write(writer, value) {
      made ??= table();
      const before = writer.length;
      writeFields(writer, made, value as Json);
      writer.endMessage(before);
    },
  };
}

/** Creates the encoding of a message whose JSON form is not an object with the same members. */
export function converted(encoding: Encoding, convert: (value: unknown) => Json): Encoding {
  return { ...encoding, write: (writer, value) => encoding.write(writer, convert(value)) };
}

/** Creates the encoding of a JSON object with arbitrary members: a list of names and values. */
export function named(value: Encoding, number = 1): Encoding {
  const entry = message(() => ({ fields: { name: [1, text], value: [2, value] } }));
  const list = message(() => ({ fields: { entries: [number, repeated(entry)] } }));
  return converted(list, (object) => ({
    entries: Object.entries(object as Json).map(([name, member]) => ({ name, value: member })),
  }));
}

/** Values of any type are YAML, of which JSON is a subset. */
export const any = converted(
  message(() => ({ fields: { yaml: [2, text] } })),
  (value) => ({ yaml: `${JSON.stringify(value)}\n` }),
);
const namedAny = message(() => ({ fields: { name: [1, text], value: [2, any] } }));
