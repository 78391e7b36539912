/** What gnostic's messages are made of, whichever version of OpenAPI they tell of. */
import { ProtobufWriter } from '../codec/protobuf-writer.ts';
import type { Json } from './definitions.ts';

/** Encodes a message by its table. */
export function encodeMessage(table: Message, value: Json): Uint8Array {
  const writer = new ProtobufWriter();
  writeFields(writer, table, value);
  return writer.take();
}

/** How a value is written; without its tag, but with its length where it has one. */
export type Encoding = {
  readonly wire: 0 | 1 | 2;
  readonly write: (writer: ProtobufWriter, value: unknown) => void;
  /** Each item has a field of its own. */
  readonly repeated?: true;
};

/** Field numbers by the names of members; `extensions` is where members that begin with `x-` go. */
export type Message = {
  readonly extensions?: number;
  readonly fields: { readonly [member: string]: readonly [number: number, encoding: Encoding] };
};

// From the last to the first, as the writer goes.
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

/** A list, each item in a field of its own. */
export function repeated(encoding: Encoding): Encoding {
  return { ...encoding, repeated: true };
}

/** A message, its table made when first needed: schemas contain schemas. */
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

/** A message whose JSON form is not an object of the same members. */
export function converted(encoding: Encoding, convert: (value: unknown) => Json): Encoding {
  return { ...encoding, write: (writer, value) => encoding.write(writer, convert(value)) };
}

/** What JSON has as an object of any members, protobuf has as a list of names and values. */
export function named(value: Encoding, number = 1): Encoding {
  const entry = message(() => ({ fields: { name: [1, text], value: [2, value] } }));
  const list = message(() => ({ fields: { entries: [number, repeated(entry)] } }));
  return converted(list, (object) => ({
    entries: Object.entries(object as Json).map(([name, member]) => ({ name, value: member })),
  }));
}

/** Values that may be anything are YAML, of which JSON is a part. */
export const any = converted(
  message(() => ({ fields: { yaml: [2, text] } })),
  (value) => ({ yaml: `${JSON.stringify(value)}\n` }),
);
const namedAny = message(() => ({ fields: { name: [1, text], value: [2, any] } }));
