/**
 * Encodes an OpenAPI 2.0 document in protobuf, with the messages of gnostic's `openapi.v2` package: client-go requests
 * only this form. Each message is a table from the members of the JSON form to field numbers. A JSON value with one of
 * several shapes is a separate message here.
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
  named,
  repeated,
  text,
} from './gnostic-message.ts';
import type { Steps } from './steps.ts';

/**
 * Encodes a document of `openApiV2`, in steps.
 *
 * ```ts
 * const document = openApiV2([{ kind: pod, subresources: [] }], vocabulary);
 * const message = runSteps(encodeOpenApiV2(document));
 * ```
 */
export function encodeOpenApiV2(document: Json): Steps<Uint8Array> {
  return encodeMessage(documentMessage(), document);
}

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
