/**
 * Types of JSON values: CEL types that know how JSON is read as them and how large it may be, so that costs can be
 * estimated. This is what a kind's schema is turned into; each function here takes the constraints of a schema node.
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

/** The largest request an API server takes; no value in one can be larger. */
const maxRequestBytes = 3 * 1024 * 1024;
const maxStringBytes = maxRequestBytes - 2;

const declare = (type: Type, json: JsonDeclaration): Type => ({ ...type, json });
const sized = (type: Type, minSerializedSize: number, maxElements: number): Type =>
  declare(type, { minSerializedSize, maxElements });

/** A boolean. */
export const jsonBool = sized(boolType, 4, 0);
/** A whole number. */
export const jsonInt = sized(intType, 1, 0);
/** A number that need not be whole. */
export const jsonNumber = sized(doubleType, 1, 0);
/** A whole number or a string, told apart at run time. */
export const jsonIntOrString = declare(dynType, {
  minSerializedSize: 1,
  maxElements: maxStringBytes,
  format: 'int-or-string',
});

/** What a schema says of a string. */
export type StringConstraints = {
  readonly maxLength?: number | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly format?: string | undefined;
};

/** A string; those of format `byte`, `duration`, `date` and `date-time` are bytes, durations and timestamps to CEL. */
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
  // maxLength counts characters, costs count bytes, and a character may take four.
  if (maxLength !== undefined) return Math.max(0, maxLength) * 4;
  if (!values || values.length === 0) return maxStringBytes;
  return Math.max(0, ...values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)));
}

/** What a schema says of an array. */
export type ListConstraints = {
  readonly maxItems?: number | undefined;
  readonly listType?: 'atomic' | 'set' | 'map' | undefined;
  readonly mapKeys?: readonly string[] | undefined;
};

/** A list of `items`. Sets and list-maps are compared without regard to order. */
export function jsonList(items: Type, { maxItems, listType: kind, mapKeys }: ListConstraints = {}): Type {
  const maxElements = maxItems === undefined ? estimateCount(minSize(items) + 1) : Math.max(0, maxItems);
  return declare(listType(items), {
    minSerializedSize: 2,
    maxElements,
    ...(kind && { listType: kind }),
    ...(mapKeys && { mapKeys }),
  });
}

/** An object used as a map (`additionalProperties`). */
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
 * An object with declared properties. `name` tells object types apart: values of two object types are comparable only
 * if their names are the same. Properties CEL cannot spell are reached by their escaped names (see `escaping.ts`).
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
    // `self.namespace` is as good as `self.__namespace__`: after a dot no word is reserved.
    const type = isReservedWord(identifier) ? property(identifier) : undefined;
    return type && { type, property: identifier };
  };
  return { kind: 'object', name, parameters: [], field, json: { minSerializedSize, maxElements: 0, property } };
}

/** The type whose values may also be null. */
export const nullable = (type: Type): Type => ({
  ...type,
  json: { ...(type.json ?? { minSerializedSize: 1, maxElements: 0 }), nullable: true },
});

const minSize = (type: Type): number => type.json?.minSerializedSize ?? 1;

const estimateCount = (bytesEach: number): number => Math.floor((maxRequestBytes - 2) / bytesEach);

/** How often values of a type could at most stand in one request: what a rule's cost is multiplied by. */
export const maxCardinality = (type: Type): number => Math.floor(maxRequestBytes / (minSize(type) + 1));
