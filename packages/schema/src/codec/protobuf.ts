/**
 * Protobuf as Kubernetes generates it. Every field that cannot be absent in Go is written, empty or not; fields are in
 * the order of their numbers, maps in the order of their keys. Decoding yields a canonical object, as decoding JSON
 * does.
 */
import { compareStrings } from '@kruise/values/go-syntax';
import { setOwn } from '../json-document.ts';
import {
  asField,
  type EitherNode,
  type Field,
  type ListNode,
  type Node,
  type ObjectNode,
  resolve,
} from '../language.ts';
import { type FieldPlan, planField } from './field-plan.ts';
import { assemble, emptyPlaces, type ObjectShape, place, placeInto, shapeOf, zeroOf } from './object-shape.ts';
import { ProtobufError, type ProtobufReader, unexpectedEnd } from './protobuf-reader.ts';
import {
  booleanCodec,
  bytesCodec,
  doubleCodec,
  durationCodec,
  int32Codec,
  int64Codec,
  intOrStringCodec,
  microTimeCodec,
  quantityCodec,
  rawCodec,
  textCodec,
  timeCodec,
  type ValueCodec,
  wrongWireType,
} from './protobuf-scalar.ts';
import type { ProtobufWriter } from './protobuf-writer.ts';

/** Codec of the bare message of an object, without a length. */
export type MessageCodec = {
  readonly write: (writer: ProtobufWriter, object: unknown) => void;
  /** Writes a single field with its tag. */
  readonly writeField: (writer: ProtobufWriter, name: string, value: unknown) => void;
  readonly read: (reader: ProtobufReader, end: number, previous?: unknown) => unknown;
};

/** A list that was encoded before and replaces the list: its bytes are written as they are. */
export class WrittenList {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

const messages = new WeakMap<ObjectNode, MessageCodec>();

/** Returns the protobuf codec of an object's schema. Memoized. */
export function messageCodecOf(node: ObjectNode): MessageCodec {
  let codec = messages.get(node);
  if (!codec) {
    codec = compileMessage(node);
    messages.set(node, codec);
  }
  return codec;
}

/** A field of a message. Its values are at the position in the placed object, those of inlined objects included. */
type MessageField = {
  readonly number: number;
  readonly wireType: number;
  readonly name: string;
  readonly write: (writer: ProtobufWriter, placed: readonly unknown[]) => void;
  readonly read: (reader: ProtobufReader, end: number, placed: unknown[]) => void;
};

function compileMessage(node: ObjectNode): MessageCodec {
  const shape = shapeOf(node);
  let fields: MessageFields | undefined;
  // Pool of empty places to write from; it grows to the nesting depth of objects with this shape.
  const spare: unknown[][] = [];
  return {
    write(writer, object) {
      fields ??= fieldsOf(node, shape);
      const placed = placeInto(spare.pop() ?? emptyPlaces(shape), shape, object as object);
      writeFields(fields, writer, placed);
      placed.fill(undefined);
      spare.push(placed);
    },
    writeField(writer, name, value) {
      fields ??= fieldsOf(node, shape);
      fields.descending.find((field) => field.name === name)!.write(writer, place(shape, { [name]: value }));
    },
    read(reader, end, previous) {
      fields ??= fieldsOf(node, shape);
      const placed = previous == null ? emptyPlaces(shape) : place(shape, previous as object);
      readFields(fields, reader, end, placed);
      return assemble(shape, placed);
    },
  };
}

type MessageFields = { readonly descending: readonly MessageField[]; readonly byNumber: readonly MessageField[] };

function fieldsOf(node: ObjectNode, shape: ObjectShape): MessageFields {
  const fields = Object.entries(node.fields).flatMap(([name, member]): MessageField[] => {
    const field = asField(member);
    if (field.number === undefined) return [];
    if (field.inline) return [inlineField(field.number, name, resolve(field.node) as ObjectNode, shape)];
    return [compileField(field.number, planField(name, field), shape.positions.get(name)!)];
  });
  const byNumber: MessageField[] = [];
  for (const field of fields) byNumber[field.number] = field;
  return { byNumber, descending: fields.toSorted((a, b) => b.number - a.number) };
}

function writeFields({ descending }: MessageFields, writer: ProtobufWriter, placed: readonly unknown[]): void {
  for (let index = 0; index < descending.length; index++) descending[index]!.write(writer, placed);
}

function readFields({ byNumber }: MessageFields, reader: ProtobufReader, end: number, placed: unknown[]): void {
  reader.enter();
  while (reader.at < end) {
    const tag = reader.varint32();
    const field = byNumber[tag >>> 3];
    if (field === undefined) {
      if (tag >>> 3 === 0) throw new ProtobufError(`proto: illegal tag 0 (wire type ${tag & 7})`);
      reader.skip(tag, end);
    } else if (field.wireType === (tag & 7)) field.read(reader, end, placed);
    else throw wrongWireType(tag & 7, field.name);
  }
  if (reader.at !== end) throw unexpectedEnd();
  reader.leave();
}

function inlineField(number: number, name: string, node: ObjectNode, shape: ObjectShape): MessageField {
  let fields: MessageFields | undefined;
  const tag = (number << 3) | 2;
  return {
    number,
    name,
    wireType: 2,
    write(writer, placed) {
      fields ??= fieldsOf(node, shape);
      const before = writer.length;
      writeFields(fields, writer, placed);
      writer.endMessage(before);
      writer.varint(tag);
    },
    read(reader, limit, placed) {
      fields ??= fieldsOf(node, shape);
      readFields(fields, reader, reader.end(limit), placed);
    },
  };
}

function compileField(number: number, plan: FieldPlan, position: number): MessageField {
  const { node, name } = plan;
  if (node.type === 'map') return mapField(number, name, node.values, position);
  if (node.type === 'list' && !node.message) return repeatedField(number, name, node, position);
  return singularField(number, plan, position);
}

function singularField(number: number, plan: FieldPlan, position: number): MessageField {
  const { node, name } = plan;
  const codec = valueCodecOf(node);
  const tag = (number << 3) | codec.wireType;
  // Absent bytes and lists are nil in Go, like pointers.
  const isNullable = plan.pointer || node.type === 'bytes' || node.type === 'list';
  const { write, read } = codec;
  const dropsEmpty = !plan.alwaysWritten && !plan.pointer;
  return {
    number,
    name,
    wireType: codec.wireType,
    write(writer, placed) {
      const value = placed[position];
      if (value == null && isNullable) return;
      write(writer, value);
      writer.varint(tag);
    },
    read: reader(),
  };

  function reader(): MessageField['read'] {
    if (node.type === 'object') {
      const message = messageCodecOf(node);
      return (reader, limit, placed) => {
        placed[position] = message.read(reader, reader.end(limit), placed[position]);
      };
    }
    if (!dropsEmpty) {
      return (reader, limit, placed) => {
        placed[position] = read(reader, limit);
      };
    }
    return (reader, limit, placed) => {
      const value = read(reader, limit);
      placed[position] = isEmpty(value) ? undefined : value;
    };
  }
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

function repeatedField(number: number, name: string, { items }: ListNode, position: number): MessageField {
  const { wireType, write, read } = valueCodecOf(items);
  const tag = (number << 3) | wireType;
  return {
    number,
    name,
    wireType,
    write(writer, placed) {
      const list = placed[position] as readonly unknown[] | WrittenList | null | undefined;
      if (list == null) return;
      if (list instanceof WrittenList) {
        writer.raw(list.bytes);
        return;
      }
      for (let index = list.length - 1; index >= 0; index--) {
        write(writer, list[index]);
        writer.varint(tag);
      }
    },
    read(reader, limit, placed) {
      const item = read(reader, limit);
      // A field that is always written is null until it has items.
      const list = placed[position] as unknown[] | null | undefined;
      if (list == null) placed[position] = [item];
      else list.push(item);
    },
  };
}

function mapField(number: number, name: string, values: Node, position: number): MessageField {
  const codec = valueCodecOf(values);
  const tag = (number << 3) | 2;
  const valueTag = (2 << 3) | codec.wireType;
  const isNullable = resolve(values).type === 'bytes';
  return {
    number,
    name,
    wireType: 2,
    write(writer, placed) {
      const map = placed[position] as Readonly<Record<string, unknown>> | null | undefined;
      if (map == null) return;
      // JavaScript may have put keys like `10` first, so the order of the object is not reliable.
      const keys = Object.keys(map).sort(compareStrings);
      for (let index = keys.length - 1; index >= 0; index--) {
        const key = keys[index]!;
        const value = map[key];
        const before = writer.length;
        if (value != null || !isNullable) {
          codec.write(writer, value);
          writer.byte(valueTag);
        }
        writer.text(key);
        writer.byte(0x0a);
        writer.endMessage(before);
        writer.varint(tag);
      }
    },
    read(reader, limit, placed) {
      const end = reader.end(limit);
      let key = '';
      let value: unknown;
      while (reader.at < end) {
        const entryTag = reader.varint32();
        if (entryTag === 0x0a) key = reader.text(end);
        else if (entryTag === valueTag) value = codec.read(reader, end);
        else reader.skip(entryTag, end);
      }
      if (reader.at !== end) throw unexpectedEnd();
      const known = placed[position] as Record<string, unknown> | undefined;
      const map = known ?? {};
      setOwn(map, key, value ?? emptyEntry(values));
      placed[position] = map;
      reader.noteEntry(map, key, known === undefined);
    },
  };
}

/** Returns the value of an entry without one: a map that was decoded from protobuf contains no nil. */
function emptyEntry(values: Node): unknown {
  const { type } = resolve(values);
  return type === 'bytes' ? '' : type === 'list' ? [] : zeroOf(values);
}

/** Returns the codec of a value after the tag of a field, a list item or a map entry. */
function valueCodecOf(unresolved: Node): ValueCodec {
  const node = resolve(unresolved);
  switch (node.type) {
    case 'string':
      return textCodec;
    case 'boolean':
      return booleanCodec;
    case 'integer':
      return node.format === 'int32' ? int32Codec : int64Codec;
    case 'number':
      return doubleCodec;
    case 'bytes':
      return bytesCodec;
    case 'time':
      return timeCodec;
    case 'microTime':
      return microTimeCodec;
    case 'duration':
      return durationCodec;
    case 'quantity':
      return quantityCodec;
    case 'intOrString':
      return intOrStringCodec;
    case 'any':
      return rawCodec;
    case 'object':
      return objectCodec(node);
    case 'list':
      return listCodec(node);
    case 'either':
      return eitherCodec(node);
    case 'map':
      throw new TypeError('protobuf has no maps within lists or maps');
  }
}

function objectCodec(node: ObjectNode): ValueCodec {
  const codec = messageCodecOf(node);
  return {
    wireType: 2,
    write(writer, value) {
      const before = writer.length;
      codec.write(writer, value ?? {});
      writer.endMessage(before);
    },
    read: (reader, limit) => codec.read(reader, reader.end(limit)),
  };
}

/** Creates the codec of a message that has no object in JSON: its fields map to a few values. */
function wrapper(
  fields: readonly MessageField[],
  unwrap: (placed: readonly unknown[]) => unknown,
  wrap: (value: unknown) => readonly unknown[],
): ValueCodec {
  const byNumber: MessageField[] = [];
  for (const field of fields) byNumber[field.number] = field;
  const messageFields = { byNumber, descending: fields.toReversed() };
  return {
    wireType: 2,
    write(writer, value) {
      const before = writer.length;
      writeFields(messageFields, writer, wrap(value));
      writer.endMessage(before);
    },
    read(reader, limit) {
      const placed: unknown[] = [undefined, undefined];
      readFields(messageFields, reader, reader.end(limit), placed);
      return unwrap(placed);
    },
  };
}

/** Creates the codec of a list as a single value: a message with the items in its first field. */
function listCodec(node: ListNode): ValueCodec {
  return wrapper(
    [repeatedField(1, 'items', node, 0)],
    ([items]) => items ?? [],
    (value) => [value],
  );
}

function eitherCodec({ object, or }: EitherNode): ValueCodec {
  // Created on first use, because schemas are recursive.
  let codec: ValueCodec | undefined;
  const lazily = () => (codec ??= or === 'boolean' ? objectOrBoolean(object) : objectOrList(object, or));
  return {
    wireType: 2,
    write: (writer, value) => lazily().write(writer, value),
    read: (reader, limit) => lazily().read(reader, limit),
  };
}

function objectOrBoolean(object: Node): ValueCodec {
  return wrapper(
    [
      singularField(1, planField('allows', asField({ type: 'boolean' })), 0),
      singularField(2, planField('schema', pointerTo(object)), 1),
    ],
    ([allows, schema]) => schema ?? allows ?? false,
    (value) => (typeof value === 'boolean' ? [value, undefined] : [value != null, value]),
  );
}

function objectOrList(object: Node, or: 'list' | 'strings'): ValueCodec {
  const items: ListNode = { type: 'list', items: or === 'list' ? object : { type: 'string' } };
  return wrapper(
    [singularField(1, planField('schema', pointerTo(object)), 0), repeatedField(2, 'list', items, 1)],
    ([schema, list]) => list ?? schema ?? null,
    (value) => (Array.isArray(value) ? [undefined, value] : [value, undefined]),
  );
}

function pointerTo(node: Node): Field {
  return { node, required: false, omitEmpty: true, pointer: true };
}
