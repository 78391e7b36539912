/**
 * An OpenAPI 2.0 document in protobuf, in the messages of gnostic's `openapi.v2` package: client-go asks for this form
 * and for no other. Each message is a table from the members of the JSON form to the numbers of the fields; what JSON
 * leaves to the reader (one of several shapes) is a message of its own here.
 */
import { ProtobufWriter } from '../codec/protobuf-writer.ts';
import type { Json } from './definitions.ts';

/** Encodes a document that `openApiV2` made. */
export function encodeOpenApiV2(document: Json): Uint8Array {
  const writer = new ProtobufWriter();
  writeFields(writer, documentMessage(), document);
  return writer.take();
}

/** How a value is written; without its tag, but with its length where it has one. */
type Encoding = {
  readonly wire: 0 | 1 | 2;
  readonly write: (writer: ProtobufWriter, value: unknown) => void;
  /** Each item has a field of its own. */
  readonly repeated?: true;
};

/** Field numbers by the names of members; `extensions` is where members that begin with `x-` go. */
type Message = {
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

const text: Encoding = { wire: 2, write: (writer, value) => writer.text(value as string) };
const flag: Encoding = { wire: 0, write: (writer, value) => writer.varint(value ? 1 : 0) };
const integer: Encoding = { wire: 0, write: (writer, value) => writer.int64(value as number) };
const double: Encoding = { wire: 1, write: (writer, value) => writer.double(value as number) };

function repeated(encoding: Encoding): Encoding {
  return { ...encoding, repeated: true };
}

/** A message, its table made when first needed: schemas contain schemas. */
function message(table: () => Message): Encoding {
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
function converted(encoding: Encoding, convert: (value: unknown) => Json): Encoding {
  return { ...encoding, write: (writer, value) => encoding.write(writer, convert(value)) };
}

/** What JSON has as an object of any members, protobuf has as a list of names and values. */
function named(value: Encoding, number = 1): Encoding {
  const entry = message(() => ({ fields: { name: [1, text], value: [2, value] } }));
  const list = message(() => ({ fields: { entries: [number, repeated(entry)] } }));
  return converted(list, (object) => ({
    entries: Object.entries(object as Json).map(([name, member]) => ({ name, value: member })),
  }));
}

// Values that may be anything are YAML, of which JSON is a part.
const any = converted(
  message(() => ({ fields: { yaml: [2, text] } })),
  (value) => ({ yaml: `${JSON.stringify(value)}\n` }),
);
const namedAny = message(() => ({ fields: { name: [1, text], value: [2, any] } }));
const stringArray = converted(
  message(() => ({ fields: { value: [1, repeated(text)] } })),
  (value) => ({ value: typeof value === 'string' ? [value] : value }),
);

const schema: Encoding = message(() => ({
  extensions: 31,
  fields: {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, flag],
    minimum: [9, double],
    exclusiveMinimum: [10, flag],
    maxLength: [11, integer],
    minLength: [12, integer],
    pattern: [13, text],
    maxItems: [14, integer],
    minItems: [15, integer],
    uniqueItems: [16, flag],
    maxProperties: [17, integer],
    minProperties: [18, integer],
    required: [19, repeated(text)],
    enum: [20, repeated(any)],
    additionalProperties: [21, additionalProperties],
    type: [22, stringArray],
    items: [23, converted(schemaItem, (value) => ({ schema: value }))],
    properties: [25, named(schema)],
    example: [30, any],
  },
}));
const schemaItem = message(() => ({ fields: { schema: [1, schema] } }));
const additionalProperties = converted(
  message(() => ({ fields: { schema: [1, schema], boolean: [2, flag] } })),
  (value) => (typeof value === 'boolean' ? { boolean: value } : { schema: value }),
);

const inPath = message(() => ({
  fields: {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [5, text],
    uniqueItems: [19, flag],
  },
}));
const inQuery = message(() => ({
  fields: {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [6, text],
    uniqueItems: [20, flag],
  },
}));
const inBody = message(() => ({
  fields: { description: [1, text], name: [2, text], in: [3, text], required: [4, flag], schema: [5, schema] },
}));
const notInBody = message(() => ({ fields: { query: [3, inQuery], path: [4, inPath] } }));
const parameter = converted(
  message(() => ({ fields: { body: [1, inBody], other: [2, notInBody] } })),
  (value) => {
    const place = (value as { readonly in: string }).in;
    return place === 'body' ? { body: value } : { other: { [place]: value } };
  },
);
const reference = message(() => ({ fields: { $ref: [1, text] } }));
const parameterOrReference = converted(
  message(() => ({ fields: { parameter: [1, parameter], reference: [2, reference] } })),
  (value) => ('$ref' in (value as Json) ? { reference: value } : { parameter: value }),
);

const response = message(() => ({
  fields: { description: [1, text], schema: [2, converted(schemaItem, (value) => ({ schema: value }))] },
}));
const responseValue = converted(
  message(() => ({ fields: { response: [1, response] } })),
  (value) => ({ response: value }),
);

const operation = message(() => ({
  extensions: 13,
  fields: {
    tags: [1, repeated(text)],
    description: [3, text],
    operationId: [5, text],
    produces: [6, repeated(text)],
    consumes: [7, repeated(text)],
    parameters: [8, repeated(parameterOrReference)],
    responses: [9, named(responseValue)],
    schemes: [10, repeated(text)],
  },
}));
const pathItem = message(() => ({
  fields: {
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    options: [6, operation],
    head: [7, operation],
    patch: [8, operation],
    parameters: [9, repeated(parameterOrReference)],
  },
}));

const apiKey = message(() => ({ fields: { type: [1, text], name: [2, text], in: [3, text], description: [4, text] } }));
const securityDefinition = converted(
  message(() => ({ fields: { apiKey: [2, apiKey] } })),
  (value) => ({ apiKey: value }),
);

function documentMessage(): Message {
  return {
    fields: {
      swagger: [1, text],
      info: [2, message(() => ({ fields: { title: [1, text], version: [2, text] } }))],
      paths: [8, named(pathItem, 2)],
      definitions: [9, named(schema)],
      parameters: [10, named(parameter)],
      security: [12, repeated(named(stringArray))],
      securityDefinitions: [13, named(securityDefinition)],
    },
  };
}
