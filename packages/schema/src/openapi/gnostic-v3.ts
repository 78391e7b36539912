/**
 * Encodes an OpenAPI 3.0 document in protobuf, with the messages of gnostic's `openapi.v3` package, by tables as for
 * version 2. Most values are either inline or a reference, which are two fields of an intermediate message.
 */
import type { Json } from './definitions.ts';
import {
  any,
  converted,
  double,
  type Encoding,
  encodeMessage,
  flag,
  integer,
  type Message,
  message,
  messageInSteps,
  named,
  repeated,
  text,
} from './gnostic-message.ts';
import type { Steps } from './steps.ts';

/**
 * Encodes a document of `openApiV3`, in steps.
 *
 * ```ts
 * const group = { group: '', version: 'v1' };
 * const document = openApiV3(group, [{ kind: pod, subresources: [] }], vocabulary);
 * const message = runSteps(encodeOpenApiV3(document));
 * ```
 */
export function encodeOpenApiV3(document: Json): Steps<Uint8Array> {
  return encodeMessage(documentMessage(), document);
}

const reference = message(() => ({ fields: { $ref: [1, text] } }));

/** Creates the encoding of a value or a reference to it. */
function orReference(thing: () => Encoding): Encoding {
  return converted(
    message(() => ({ fields: { thing: [1, thing()], reference: [2, reference] } })),
    (value) => ('$ref' in (value as Json) ? { reference: value } : { thing: value }),
  );
}

const schemaOrReference: Encoding = orReference(() => schema);
const schema: Encoding = message(() => ({
  extensions: 36,
  fields: {
    nullable: [1, flag],
    readOnly: [3, flag],
    writeOnly: [4, flag],
    example: [7, any],
    deprecated: [8, flag],
    title: [9, text],
    multipleOf: [10, double],
    maximum: [11, double],
    exclusiveMaximum: [12, flag],
    minimum: [13, double],
    exclusiveMinimum: [14, flag],
    maxLength: [15, integer],
    minLength: [16, integer],
    pattern: [17, text],
    maxItems: [18, integer],
    minItems: [19, integer],
    uniqueItems: [20, flag],
    maxProperties: [21, integer],
    minProperties: [22, integer],
    required: [23, repeated(text)],
    enum: [24, repeated(any)],
    type: [25, text],
    allOf: [26, repeated(schemaOrReference)],
    oneOf: [27, repeated(schemaOrReference)],
    anyOf: [28, repeated(schemaOrReference)],
    not: [29, schema],
    items: [30, items],
    properties: [31, named(schemaOrReference)],
    additionalProperties: [32, additionalProperties],
    default: [33, defaultValue],
    description: [34, text],
    format: [35, text],
  },
}));
const items = converted(
  message(() => ({ fields: { schemas: [1, repeated(schemaOrReference)] } })),
  (value) => ({ schemas: [value] }),
);
const additionalProperties = converted(
  message(() => ({ fields: { schema: [1, schemaOrReference], boolean: [2, flag] } })),
  (value) => (typeof value === 'boolean' ? { boolean: value } : { schema: value }),
);
// Objects and lists cannot be encoded as defaults; only the presence of a default is written.
const defaultValue = converted(
  message(() => ({ fields: { number: [1, double], boolean: [2, flag], string: [3, text] } })),
  (value) => ({ [typeof value]: value }),
);

const mediaType = message(() => ({ fields: { schema: [1, schemaOrReference] } }));
const parameterOrReference = orReference(() =>
  message(() => ({
    fields: {
      name: [1, text],
      in: [2, text],
      description: [3, text],
      required: [4, flag],
      schema: [10, schemaOrReference],
    },
  })),
);
const bodyOrReference = orReference(() =>
  message(() => ({ fields: { description: [1, text], content: [2, named(mediaType)], required: [3, flag] } })),
);
const responseOrReference = orReference(() =>
  message(() => ({ fields: { description: [1, text], content: [3, named(mediaType)] } })),
);

const operation = message(() => ({
  extensions: 13,
  fields: {
    tags: [1, repeated(text)],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, repeated(parameterOrReference)],
    requestBody: [7, bodyOrReference],
    responses: [8, named(responseOrReference, 2)],
  },
}));
const pathItem = message(() => ({
  fields: {
    get: [4, operation],
    put: [5, operation],
    post: [6, operation],
    delete: [7, operation],
    options: [8, operation],
    head: [9, operation],
    patch: [10, operation],
    parameters: [13, repeated(parameterOrReference)],
  },
}));
const securityScheme = orReference(() =>
  message(() => ({ fields: { type: [1, text], description: [2, text], name: [3, text], in: [4, text] } })),
);
const components = messageInSteps(() => ({
  fields: { schemas: [1, named(schemaOrReference)], securitySchemes: [7, named(securityScheme)] },
}));

function documentMessage(): Message {
  return {
    fields: {
      openapi: [1, text],
      info: [2, message(() => ({ fields: { title: [1, text], version: [6, text] } }))],
      paths: [4, named(pathItem)],
      components: [5, components],
    },
  };
}
