/**
 * Types for the checker.
 *
 * A type is a plain immutable value. Two types are equal if kind, name and parameters are equal; `json` (size limits,
 * formats) is ignored by the checker: it is for cost estimates and the conversion of JSON values.
 */

/** Kind of a type. */
export type Kind =
  | 'any'
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  | 'object'
  | 'opaque'
  | 'parameter'
  | 'string'
  | 'timestamp'
  | 'type'
  | 'uint';

/** A field of an object type, and its property in the JSON object. */
export type Field = { readonly type: Type; readonly property: string };

/** Conversion of JSON to a type, and its size limits. Created by the functions of `json-types.ts`. */
export type JsonDeclaration = {
  /** Maximum number of characters, bytes, items or entries, for cost estimates. */
  readonly maxElements: number;
  /** Minimum size of a value in JSON, in bytes. */
  readonly minSerializedSize: number;
  readonly nullable?: boolean;
  readonly format?: 'date' | 'date-time' | 'int-or-string';
  /** Identity of list elements in comparisons and concatenations. */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly mapKeys?: readonly string[];
  /** Returns the type of an object's property by its JSON name. */
  readonly property?: (name: string) => Type | undefined;
};

/** A CEL type. */
export type Type = {
  readonly kind: Kind;
  /** Name that `type(x)` shows at run time. */
  readonly name: string;
  readonly parameters: readonly Type[];
  /** Returns the field of an object by its CEL identifier, if it exists. Absent for objects without fields. */
  readonly field?: (name: string) => Field | undefined;
  readonly json?: JsonDeclaration;
};

const simple = (kind: Kind, name: string = kind): Type => ({ kind, name, parameters: [] });

/** Any type, determined at run time. */
export const dynType = simple('dyn');
/** Any type, wrapped in a protobuf message. */
export const anyType = simple('any', 'google.protobuf.Any');
/** `bool`. */
export const boolType = simple('bool');
/** `bytes`. */
export const bytesType = simple('bytes');
/** `double`. */
export const doubleType = simple('double');
/** `google.protobuf.Duration`. */
export const durationType = simple('duration', 'google.protobuf.Duration');
/** Type of an expression with an error. It is assignable everywhere, so that an error is reported once. */
export const errorType = simple('error');
/** `int`. */
export const intType = simple('int');
/** `null_type`. */
export const nullType = simple('null', 'null_type');
/** `string`. */
export const stringType = simple('string');
/** `google.protobuf.Timestamp`. */
export const timestampType = simple('timestamp', 'google.protobuf.Timestamp');
/** `uint`. */
export const uintType = simple('uint');
/** Type of a type with an unknown subject. */
export const typeType = simple('type');

/** Returns the type of a list of `element`. */
export const listType = (element: Type): Type => ({ kind: 'list', name: 'list', parameters: [element] });

/** Returns the type of a map from `key` to `value`. */
export const mapType = (key: Type, value: Type): Type => ({ kind: 'map', name: 'map', parameters: [key, value] });

/** Returns the type of the type `subject`, as in `type(1)`. */
export const typeOf = (subject: Type): Type => ({ kind: 'type', name: 'type', parameters: [subject] });

/** Returns a type that only functions can inspect. */
export const opaqueType = (name: string, ...parameters: Type[]): Type => ({ kind: 'opaque', name, parameters });

/** Returns the type of a value that may be absent. */
export const optionalType = (value: Type): Type => opaqueType('optional_type', value);

/** Returns a type parameter, which is bound for each call of its function. */
export const typeParameter = (name: string): Type => ({ kind: 'parameter', name, parameters: [] });

/**
 * Returns the type of an object with named fields. `fields` is either a record of all fields, or a function that finds
 * a field by its identifier; without it the object has no fields.
 */
export function objectType(
  name: string,
  fields?: Readonly<Record<string, Type>> | ((name: string) => Field | undefined),
): Type {
  if (fields === undefined) return { kind: 'object', name, parameters: [] };
  if (typeof fields === 'function') return { kind: 'object', name, parameters: [], field: fields };
  const byName = new Map(Object.entries(fields).map(([property, type]) => [property, { type, property }]));
  return { kind: 'object', name, parameters: [], field: (field) => byName.get(field) };
}

/** Returns whether a type is checked only at run time. */
export const isDyn = (type: Type): boolean => type.kind === 'dyn' || type.kind === 'any';

/** Returns whether a type is optional. */
export const isOptional = (type: Type): boolean => type.kind === 'opaque' && type.name === 'optional_type';

/** Returns the type inside of an optional type; any other type unchanged. */
export const unwrapOptional = (type: Type): Type => (isOptional(type) ? type.parameters[0]! : type);

/** Returns whether two types are equal, including names of type parameters. */
export function isSameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.parameters.length !== b.parameters.length) return false;
  return a.parameters.every((parameter, index) => isSameType(parameter, b.parameters[index]!));
}

/** Returns whether two types are equal up to the names of type parameters. */
export function isEquivalentType(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.parameters.length !== b.parameters.length) return false;
  if (a.kind !== 'parameter' && a.name !== b.name) return false;
  return a.parameters.every((parameter, index) => isEquivalentType(parameter, b.parameters[index]!));
}

/** Formats a type for error messages. */
export function formatType(type: Type): string {
  switch (type.kind) {
    case 'any':
      return 'any';
    case 'duration':
      return 'duration';
    case 'error':
      return '!error!';
    case 'null':
      return 'null';
    case 'timestamp':
      return 'timestamp';
    default:
      return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(formatType).join(', ')})`;
  }
}

/** Formats the signature of a call for error messages: `(int, string)` or `string.(int)`. */
export function formatSignature(parameters: readonly Type[], isMember: boolean): string {
  const shown = parameters.map(formatType);
  return isMember ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
}
