/**
 * Types of JSON values: CEL types with the conversion of JSON and size limits, so that costs can be
 * estimated. Schemas of kinds are compiled to these types; each function takes the constraints of a schema node.
 *
 * ```ts
 * const spec = jsonObject('Widget.spec', {
 *   replicas: { type: jsonInt },
 *   image: { type: jsonString({ maxLength: 253 }), isRequired: true },
 *   ports: { type: jsonList(jsonInt, { maxItems: 10, listType: 'set' }) },
 * });
 * ```
 */
import { escapeIdentifier, isReservedWord, unescapeIdentifier } from './escaping.ts';
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  type Field,
  intType,
  type JsonDeclaration,
  listType,
  mapType,
  stringType,
  type Type,
  timestampType,
} from './types.ts';

/** Maximum size of a request to the API server; no value can be larger. */
const maxRequestBytes = 3 * 1024 * 1024;
const maxStringBytes = maxRequestBytes - 2;

const declare = (type: Type, json: JsonDeclaration): Type => ({ ...type, json });
const sized = (type: Type, minSerializedSize: number, maxElements: number): Type =>
  declare(type, { minSerializedSize, maxElements });

/** Type of a boolean. */
export const jsonBool = sized(boolType, 4, 0);
/** Type of a whole number. */
export const jsonInt = sized(intType, 1, 0);
/** Type of a number that may have a fraction. */
export const jsonNumber = sized(doubleType, 1, 0);
/** Type of a whole number or a string, distinguished at run time. */
export const jsonIntOrString = declare(dynType, {
  minSerializedSize: 1,
  maxElements: maxStringBytes,
  format: 'int-or-string',
});

/** Schema constraints of a string. */
export type StringConstraints = {
  readonly maxLength?: number | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly format?: string | undefined;
};

/**
 * Returns the type of a string; the formats `byte`, `duration`, `date` and `date-time` are bytes, durations and
 * timestamps in CEL.
 */
export function jsonString({ maxLength, enum: values, format }: StringConstraints = {}): Type {
  switch (format) {
    case 'byte':
      return sized(bytesType, 2, maxLength === undefined ? maxStringBytes : Math.max(0, maxLength));
    case 'duration':
      return sized(durationType, 3, 32);
    case 'date':
      return declare(timestampType, { minSerializedSize: 12, maxElements: 12, format });
    case 'date-time':
      return declare(timestampType, { minSerializedSize: 21, maxElements: 32, format });
    default:
      return sized(stringType, 2, maxStringSize(maxLength, values));
  }
}

function maxStringSize(maxLength: number | undefined, values: readonly unknown[] | undefined): number {
  // maxLength counts characters, costs count bytes, and a character may take four bytes.
  if (maxLength !== undefined) return Math.max(0, maxLength) * 4;
  if (!values || values.length === 0) return maxStringBytes;
  return Math.max(0, ...values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)));
}

/** Schema constraints of an array. */
export type ListConstraints = {
  readonly maxItems?: number | undefined;
  readonly listType?: 'atomic' | 'set' | 'map' | undefined;
  readonly mapKeys?: readonly string[] | undefined;
};

/** Returns the type of a list of `items`. Sets and list-maps are compared without regard to order. */
export function jsonList(items: Type, { maxItems, listType: kind, mapKeys }: ListConstraints = {}): Type {
  const maxElements = maxItems === undefined ? estimateCount(minSize(items) + 1) : Math.max(0, maxItems);
  return declare(listType(items), {
    minSerializedSize: 2,
    maxElements,
    ...(kind && { listType: kind }),
    ...(mapKeys && { mapKeys }),
  });
}

/** Returns the type of an object that is used as a map (`additionalProperties`). */
export function jsonMap(values: Type, { maxProperties }: { readonly maxProperties?: number | undefined } = {}): Type {
  const maxElements = maxProperties === undefined ? estimateCount(minSize(values) + 6) : Math.max(0, maxProperties);
  const key = sized(stringType, 2, 0);
  return declare(mapType(key, values), { minSerializedSize: 2, maxElements });
}

/** A property of an object. */
export type JsonProperty = {
  readonly type: Type;
  readonly isRequired?: boolean;
  readonly hasDefault?: boolean;
};

/**
 * Returns the type of an object with declared properties. `name` identifies the type: values of two object types are
 * comparable only if their names are equal. Properties that are not CEL identifiers have escaped names (see
 * `escaping.ts`).
 */
export function jsonObject(name: string, properties: Readonly<Record<string, JsonProperty>>): Type {
  const byName = new Map(Object.entries(properties));
  let minSerializedSize = 2;
  for (const [property, { type, isRequired, hasDefault }] of byName) {
    if (isRequired && !hasDefault) minSerializedSize += Buffer.byteLength(property) + minSize(type) + 4;
  }
  const property = (name: string): Type | undefined => byName.get(name)?.type;
  const field = (identifier: string): Field | undefined => {
    const escaped = unescapeIdentifier(identifier);
    if (escaped !== undefined && escapeIdentifier(escaped) === identifier) {
      const type = property(escaped);
      if (type) return { type, property: escaped };
    }
    // `self.namespace` equals `self.__namespace__`: after a dot no word is reserved.
    const type = isReservedWord(identifier) ? property(identifier) : undefined;
    return type && { type, property: identifier };
  };
  return { kind: 'object', name, parameters: [], field, json: { minSerializedSize, maxElements: 0, property } };
}

/** Returns a type whose values may also be null. */
export const nullable = (type: Type): Type => ({
  ...type,
  json: { ...(type.json ?? { minSerializedSize: 1, maxElements: 0 }), nullable: true },
});

const minSize = (type: Type): number => type.json?.minSerializedSize ?? 1;

const estimateCount = (bytesEach: number): number => Math.floor((maxRequestBytes - 2) / bytesEach);

/** Returns the maximum number of values of a type in one request, by which the cost of a rule is multiplied. */
export const maxCardinality = (type: Type): number => Math.floor(maxRequestBytes / (minSize(type) + 1));
