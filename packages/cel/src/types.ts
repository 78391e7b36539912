/**
 * The types expressions are checked against.
 *
 * A type is a plain immutable value. Two types are the same when kind, name and parameters agree; what `json`
 * adds (size limits, formats) never takes part in checking: it serves cost estimates and the reading of JSON values.
 */

/** What sort of type it is. */
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

/** A field of an object type: its type, and the property of the JSON object that holds it. */
export type Field = { readonly type: Type; readonly property: string };

/** How JSON is read as a value of a type, and how large it may be. Made by the functions of `json-types.ts`. */
export type JsonDeclaration = {
  /** The most characters, bytes, items or entries a value may have; what cost estimates count with. */
  readonly maxElements: number;
  /** The least bytes a value takes in JSON. */
  readonly minSerializedSize: number;
  readonly nullable?: boolean;
  readonly format?: 'date' | 'date-time' | 'int-or-string';
  /** For lists: how elements are told apart when lists are compared and joined. */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly mapKeys?: readonly string[];
  /** For objects: the type of a property by its JSON name. */
  readonly property?: (name: string) => Type | undefined;
};

/** A CEL type. */
export type Type = {
  readonly kind: Kind;
  /** The name `type(x)` shows at run time. */
  readonly name: string;
  readonly parameters: readonly Type[];
  /** For objects: the field with this CEL identifier, if there is one. Absent for objects without fields. */
  readonly field?: (name: string) => Field | undefined;
  readonly json?: JsonDeclaration;
};

const simple = (kind: Kind, name: string = kind): Type => ({ kind, name, parameters: [] });

/** Any type, found out at run time. */
export const dynType = simple('dyn');
/** Any type, wrapped as protobuf wraps it. */
export const anyType = simple('any', 'google.protobuf.Any');
/** `bool`. */
export const boolType = simple('bool');
/** `bytes`. */
export const bytesType = simple('bytes');
/** `double`. */
export const doubleType = simple('double');
/** `google.protobuf.Duration`. */
export const durationType = simple('duration', 'google.protobuf.Duration');
/** The type of what has a fault, which fits everywhere so that one fault is reported once. */
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
/** The type of types whose subject is not known. */
export const typeType = simple('type');

/** A list of `element`. */
export const listType = (element: Type): Type => ({ kind: 'list', name: 'list', parameters: [element] });

/** A map from `key` to `value`. */
export const mapType = (key: Type, value: Type): Type => ({ kind: 'map', name: 'map', parameters: [key, value] });

/** The type of the type `subject`, as in `type(1)`. */
export const typeOf = (subject: Type): Type => ({ kind: 'type', name: 'type', parameters: [subject] });

/** A type only functions can look into. */
export const opaqueType = (name: string, ...parameters: Type[]): Type => ({ kind: 'opaque', name, parameters });

/** A value that may be absent. */
export const optionalType = (value: Type): Type => opaqueType('optional_type', value);

/** A placeholder, bound anew for each call of the function it is declared in. */
export const typeParameter = (name: string): Type => ({ kind: 'parameter', name, parameters: [] });

/**
 * An object with named fields. `fields` is either all of them, or a function that finds one by its identifier;
 * without it the object has functions but no fields.
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

/** Whether checking is left to run time. */
export const isDyn = (type: Type): boolean => type.kind === 'dyn' || type.kind === 'any';

/** Whether it is the type of optional values. */
export const isOptional = (type: Type): boolean => type.kind === 'opaque' && type.name === 'optional_type';

/** What an optional type holds; any other type is itself. */
export const unwrapOptional = (type: Type): Type => (isOptional(type) ? type.parameters[0]! : type);

/** Whether both are the same type, names of type parameters included. */
export function isSameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.parameters.length !== b.parameters.length) return false;
  return a.parameters.every((parameter, index) => isSameType(parameter, b.parameters[index]!));
}

/** Whether both are the same type when names of type parameters do not matter. */
export function isEquivalentType(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.parameters.length !== b.parameters.length) return false;
  if (a.kind !== 'parameter' && a.name !== b.name) return false;
  return a.parameters.every((parameter, index) => isEquivalentType(parameter, b.parameters[index]!));
}

/** The type as error messages show it. */
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

/** A call's signature as error messages show it: `(int, string)` or `string.(int)`. */
export function formatSignature(parameters: readonly Type[], isMember: boolean): string {
  const shown = parameters.map(formatType);
  return isMember ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
}
