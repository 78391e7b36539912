/** Encodings for gnostic's messages in both versions of OpenAPI. */
import { ProtobufWriter } from '../codec/protobuf-writer.ts';
import type { Json } from './definitions.ts';
import type { Steps } from './steps.ts';

/** Encodes a message by its table, in steps. */
export function* encodeMessage(table: Message, value: Json): Steps<Uint8Array> {
  const writer = new ProtobufWriter();
  yield* writeFieldsInSteps(writer, table, value);
  return writer.take();
}

/** Encoding of a value, without its tag, but with its length if needed. */
export type Encoding = {
  readonly wire: 0 | 1 | 2;
  readonly write: (writer: ProtobufWriter, value: unknown) => void;
  /** Writes a large value in steps. */
  readonly writeInSteps?: (writer: ProtobufWriter, value: unknown) => Steps<void>;
  /** Each item is a separate field. */
  readonly repeated?: true;
};

/** Field numbers by the names of members; `extensions` is the number for members that begin with `x-`. */
export type Message = {
  readonly extensions?: number;
  readonly fields: { readonly [member: string]: readonly [number: number, encoding: Encoding] };
};

// Writes fields from last to first, because the writer works backwards.
function writeFields(writer: ProtobufWriter, table: Message, value: Json): void {
  for (const [member, part] of Object.entries(value).reverse()) {
    const field = fieldOf(table, member);
    if (field) writeField(writer, field[0], field[1], part);
    else writeExtension(writer, table, member, part);
  }
}

function* writeFieldsInSteps(writer: ProtobufWriter, table: Message, value: Json): Steps<void> {
  for (const [member, part] of Object.entries(value).reverse()) {
    const field = fieldOf(table, member);
    if (!field) writeExtension(writer, table, member, part);
    else if (field[1].writeInSteps) {
      yield* field[1].writeInSteps(writer, part);
      writeTag(writer, field[0], field[1]);
    } else writeField(writer, field[0], field[1], part);
  }
}

function fieldOf({ fields }: Message, member: string) {
  return Object.hasOwn(fields, member) ? fields[member] : undefined;
}

function writeExtension(writer: ProtobufWriter, { extensions }: Message, member: string, value: unknown): void {
  if (extensions === undefined || !member.startsWith('x-')) return;
  writeField(writer, extensions, namedAny, { name: member, value });
}

function writeField(writer: ProtobufWriter, number: number, encoding: Encoding, value: unknown): void {
  const values = encoding.repeated ? (value as readonly unknown[]).toReversed() : [value];
  for (const each of values) {
    encoding.write(writer, each);
    writeTag(writer, number, encoding);
  }
}

function writeTag(writer: ProtobufWriter, number: number, { wire }: Encoding): void {
  writer.varint(number * 8 + wire);
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
export function repeated({ wire, write }: Encoding): Encoding {
  return { wire, write, repeated: true };
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

/** Creates the encoding of a message that is part of the document itself, and large: its fields are written in steps. */
export function messageInSteps(table: () => Message): Encoding {
  return {
    ...message(table),
    *writeInSteps(writer, value) {
      const before = writer.length;
      yield* writeFieldsInSteps(writer, table(), value as Json);
      writer.endMessage(before);
    },
  };
}

/** Creates the encoding of a message whose JSON form is not an object with the same members. */
export function converted({ wire, write }: Encoding, convert: (value: unknown) => Json): Encoding {
  return { wire, write: (writer, value) => write(writer, convert(value)) };
}

/** Entries that are written in one step. */
const entriesPerStep = 16;

/** Creates the encoding of a JSON object with arbitrary members: a list of names and values. */
export function named(value: Encoding, number = 1): Encoding {
  const entry = message(() => ({ fields: { name: [1, text], value: [2, value] } }));
  const writeEntry = (writer: ProtobufWriter, [name, member]: [string, unknown]): void =>
    writeField(writer, number, entry, { name, value: member });
  return {
    wire: 2,
    write(writer, object) {
      const before = writer.length;
      for (const each of Object.entries(object as Json).reverse()) writeEntry(writer, each);
      writer.endMessage(before);
    },
    *writeInSteps(writer, object) {
      const before = writer.length;
      for (const [index, each] of Object.entries(object as Json)
        .reverse()
        .entries()) {
        writeEntry(writer, each);
        if (index % entriesPerStep === entriesPerStep - 1) yield;
      }
      writer.endMessage(before);
    },
  };
}

/** Values of any type are YAML, of which JSON is a subset. */
export const any = converted(
  message(() => ({ fields: { yaml: [2, text] } })),
  (value) => ({ yaml: `${JSON.stringify(value)}\n` }),
);
const namedAny = message(() => ({ fields: { name: [1, text], value: [2, any] } }));
