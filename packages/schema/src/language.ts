/**
 * The language in which kinds are defined. A schema is plain data: a tree of nodes that the compilers beside this file
 * turn into codecs, OpenAPI, CRDs, merge rules and `explain` text. Nothing here depends on a kind.
 *
 * ```ts
 * const port = s.object('io.k8s.api.core.v1.ServicePort', 'A port a Service answers on.', {
 *   name: s.optional(1, s.string(), 'Name of the port, unique in the Service.'),
 *   port: s.required(3, s.int32(), 'The number clients connect to.'),
 * });
 * type Port = s.TypeOf<typeof port>; // { readonly name?: string; readonly port: number }
 * ```
 *
 * A field has two halves. Its node describes the value. The field itself describes the presence on the wire:
 * Kubernetes' encodings follow Go structs, in which a value without a pointer cannot be absent, only empty, and in
 * which a tag decides whether an empty value is written. `required`, `optional` and `pointer` are the three usual
 * combinations; the last argument handles the few others.
 */

declare const valueType: unique symbol;

/** Carries the static type of the values of a schema. */
export interface Typed<T> {
  readonly [valueType]?: () => T;
}

/** Static type of the values of a node. */
export type TypeOf<N> = N extends Typed<infer T> ? T : never;

/** Constraints of a value, as in OpenAPI and CRDs. */
export type Constraints = {
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  /** CEL rules (`x-kubernetes-validations`). */
  readonly rules?: readonly Rule[];
};

/** One CEL rule of a CRD. */
export type Rule = {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
};

type Common = { readonly doc?: string; readonly constraints?: Constraints; readonly goType?: string };

/** A string. `goType` names the Go type if it is not plain `string`: decoding errors quote it. */
export type StringNode = Common & { readonly type: 'string'; readonly knownValues?: readonly string[] };
/** True or false. */
export type BooleanNode = Common & { readonly type: 'boolean' };
/** A whole number. */
export type IntegerNode = Common & { readonly type: 'integer'; readonly format: 'int32' | 'int64' };
/** A number, with or without fraction. */
export type NumberNode = Common & { readonly type: 'number'; readonly format?: 'double' };
/** Values with their own text form: base64 bytes, RFC 3339 times, Go durations, quantities. */
export type ScalarNode = Common & { readonly type: 'bytes' | 'time' | 'microTime' | 'duration' | 'quantity' };
/** An integer or a string: `8080` or `http`, `3` or `25%`. */
export type IntOrStringNode = Common & { readonly type: 'intOrString' };
/**
 * Any JSON. `rawExtension` is an embedded object, `json` any value, `fieldsV1` a field set; they differ only in
 * protobuf and OpenAPI. `preserved` is an object of a CRD with unknown fields; `partial` lists the known ones.
 */
export type AnyNode = Common & {
  readonly type: 'any';
  readonly form: 'rawExtension' | 'json' | 'fieldsV1' | 'preserved';
  readonly embeddedResource?: boolean;
  readonly partial?: Fields;
};
/** A map from strings to values of one node. */
export type MapNode = Common & { readonly type: 'map'; readonly values: Node; readonly mapType?: MapType };
/** A list of values of one node. `listType` determines how lists merge. */
export type ListNode = Common & {
  readonly type: 'list';
  readonly items: Node;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly keys?: readonly string[];
  /** The list is a separate message in protobuf rather than a repeated field. */
  readonly message?: true;
};
/** An object with named fields. */
export type ObjectNode = Common & {
  readonly type: 'object';
  /** Name of the OpenAPI definition; an object without a name is inlined where it is used. */
  readonly name?: string;
  readonly fields: Fields;
  readonly mapType?: MapType;
};
/** An object or, instead, a list of such objects, a boolean, or a list of strings: the unions of JSON Schema. */
export type EitherNode = Common & {
  readonly type: 'either';
  readonly object: Node;
  readonly or: 'list' | 'boolean' | 'strings';
};
/** A reference to a node that does not exist yet, for recursive schemas. */
export type LazyNode = Common & { readonly type: 'lazy'; readonly resolve: () => Node };

/** Ownership of a map or object in server-side apply: as a whole, or per member. */
export type MapType = 'atomic' | 'granular';

/** Schema of a value. */
export type Node =
  | StringNode
  | BooleanNode
  | IntegerNode
  | NumberNode
  | ScalarNode
  | IntOrStringNode
  | AnyNode
  | MapNode
  | ListNode
  | ObjectNode
  | EitherNode
  | LazyNode;

/** Merge behaviour of a field in a strategic merge patch. */
export type Patch = { readonly patchStrategy?: string; readonly patchMergeKey?: string };

/** Published merge behaviour of a field, if it differs from the node or the node cannot express it. */
export type Topology = { readonly listType?: 'atomic'; readonly mapType?: MapType };

/** A member of an object: its node and its presence on the wire. */
export type Field = Patch &
  Topology & {
    readonly node: Node;
    readonly doc?: string;
    /** Protobuf field number; absent for fields that have no protobuf form. */
    readonly number?: number;
    /** Clients must set the field, as OpenAPI publishes it. */
    readonly required: boolean;
    /** An empty value is not written. */
    readonly omitEmpty: boolean;
    /** Absent and empty differ. */
    readonly pointer: boolean;
    /** The members of the node are among this object's own members; only protobuf nests them. */
    readonly inline?: true;
    /** Name of the field in the Go struct, if it does not follow from the JSON name. */
    readonly goName?: string;
  };

/** The members of an object by name. */
export type Fields = { readonly [name: string]: Field | Node };

/** Presence of a member in the static type of its object. */
export type Presence = 'required' | 'optional' | 'inline';
/** A field together with its static type. */
export type TypedField<T, P extends Presence> = Field & Typed<T> & { readonly presence?: P };

type Member = Field | Node;
type PresenceOf<M> = M extends { readonly presence?: infer P } ? (P extends Presence ? P : 'required') : 'required';
type KeysWith<F, P extends Presence> = { [K in keyof F]: PresenceOf<F[K]> extends P ? K : never }[keyof F];
type Intersection<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never;
type Flat<T> = { [K in keyof T]: T[K] };

/** The static type of an object with these members. */
export type FieldsType<F> = Flat<
  { readonly [K in KeysWith<F, 'required'>]: TypeOf<F[K]> } & {
    readonly [K in KeysWith<F, 'optional'>]?: TypeOf<F[K]>;
  } & ([KeysWith<F, 'inline'>] extends [never] ? unknown : Intersection<TypeOf<F[KeysWith<F, 'inline'>]>>)
>;

type TextOptions = Constraints & { readonly doc?: string; readonly goType?: string };

function common(options: TextOptions = {}): Common {
  const { doc, goType, ...constraints } = options;
  return {
    ...(doc === undefined ? {} : { doc }),
    ...(goType === undefined ? {} : { goType }),
    ...(Object.keys(constraints).length === 0 ? {} : { constraints }),
  };
}

/** Text. */
export function string(options?: TextOptions): StringNode & Typed<string> {
  return { type: 'string', ...common(options) };
}

/** A string with known values, for the static type only: validation decides which values are accepted. */
export function oneOf<const V extends string>(values: readonly V[]): StringNode & Typed<V>;
export function oneOf<const V extends string>(goType: string, values: readonly V[]): StringNode & Typed<V>;
export function oneOf(first: string | readonly string[], second?: readonly string[]): StringNode {
  if (typeof first === 'string') return { type: 'string', goType: first, knownValues: second ?? [] };
  return { type: 'string', knownValues: first };
}

/** A string that must be one of these values: `enum` of a CRD. */
export function enumeration<const V extends string>(
  values: readonly V[],
  options?: TextOptions,
): StringNode & Typed<V> {
  return { type: 'string', ...common({ ...options, enum: values }) };
}

/** True or false. */
export function boolean(options?: TextOptions): BooleanNode & Typed<boolean> {
  return { type: 'boolean', ...common(options) };
}

/** A whole number of 32 bits. */
export function int32(options?: TextOptions): IntegerNode & Typed<number> {
  return { type: 'integer', format: 'int32', ...common(options) };
}

/** A 64-bit integer: a number, or a bigint where a number could not hold it exactly. */
export function int64(options?: TextOptions): IntegerNode & Typed<number> {
  return { type: 'integer', format: 'int64', ...common(options) };
}

/** A number, with or without fraction. */
export function number(options?: TextOptions): NumberNode & Typed<number> {
  return { type: 'number', ...common(options) };
}

/** A number with the format `double`. */
export function double(options?: TextOptions): NumberNode & Typed<number> {
  return { type: 'number', format: 'double', ...common(options) };
}

/** Bytes, written in base64. */
export function bytes(options?: TextOptions): ScalarNode & Typed<string> {
  return { type: 'bytes', ...common(options) };
}

/** A time to the second, RFC 3339 in UTC. */
export function time(options?: TextOptions): ScalarNode & Typed<string | null> {
  return { type: 'time', ...common(options) };
}

/**
 * A time with second precision in a CRD, never null: the schema does not allow the null that Go writes for an absent
 * time.
 */
export function dateTime(options?: TextOptions): ScalarNode & Typed<string> {
  return { type: 'time', ...common(options) };
}

/** A time to the microsecond, RFC 3339 in UTC. */
export function microTime(options?: TextOptions): ScalarNode & Typed<string | null> {
  return { type: 'microTime', ...common(options) };
}

/** A duration as Go writes it: `1h5m0s`. */
export function duration(options?: TextOptions): ScalarNode & Typed<string> {
  return { type: 'duration', ...common(options) };
}

/** An amount: `500m`, `1Gi`. */
export function quantity(options?: TextOptions): ScalarNode & Typed<string> {
  return { type: 'quantity', ...common(options) };
}

/** A number or a text: `8080` or `http`, `3` or `25%`. */
export function intOrString(options?: TextOptions): IntOrStringNode & Typed<number | string> {
  return { type: 'intOrString', ...common(options) };
}

/** An embedded object of any kind. */
export function rawExtension(options?: TextOptions): AnyNode & Typed<unknown> {
  return { type: 'any', form: 'rawExtension', ...common(options) };
}

/** Any JSON value. */
export function json(options?: TextOptions): AnyNode & Typed<unknown> {
  return { type: 'any', form: 'json', ...common(options) };
}

/** A set of fields, as managedFields keep them. */
export function fieldsV1(): AnyNode & Typed<{ readonly [path: string]: unknown }> {
  return { type: 'any', form: 'fieldsV1' };
}

/** An object of a CRD that preserves all fields; `T` is the type that readers may expect. */
export function preserved<T = { readonly [name: string]: unknown }>(
  options?: TextOptions & { readonly partial?: Fields; readonly embeddedResource?: boolean },
): AnyNode & Typed<T> {
  const { partial, embeddedResource, ...rest } = options ?? {};
  return {
    type: 'any',
    form: 'preserved',
    ...(partial ? { partial } : {}),
    ...(embeddedResource ? { embeddedResource } : {}),
    ...common(rest),
  };
}

/** Text keys, values of one node. */
export function map<N extends Node>(
  values: N,
  options?: TextOptions & { readonly mapType?: MapType },
): MapNode & Typed<{ readonly [key: string]: TypeOf<N> }> {
  const { mapType, ...rest } = options ?? {};
  return { type: 'map', values, ...(mapType ? { mapType } : {}), ...common(rest) };
}

/** A list that is replaced as a whole. */
export function list<N extends Node>(
  items: N,
  options?: TextOptions & { readonly listType?: 'atomic'; readonly message?: true },
): ListNode & Typed<readonly TypeOf<N>[]> {
  const { listType, message, ...rest } = options ?? {};
  return { type: 'list', items, ...(listType ? { listType } : {}), ...(message ? { message } : {}), ...common(rest) };
}

/** A list that is published as atomic, too. */
export function atomicList<N extends Node>(items: N, options?: TextOptions): ListNode & Typed<readonly TypeOf<N>[]> {
  return list(items, { ...options, listType: 'atomic' });
}

/** A list of distinct values with separate ownership. */
export function set<N extends Node>(items: N, options?: TextOptions): ListNode & Typed<readonly TypeOf<N>[]> {
  return { type: 'list', items, listType: 'set', ...common(options) };
}

/** A list of objects that are identified by these fields, with separate ownership. */
export function listMap<N extends Node>(
  items: N,
  keys: readonly string[],
  options?: TextOptions,
): ListNode & Typed<readonly TypeOf<N>[]> {
  return { type: 'list', items, listType: 'map', keys, ...common(options) };
}

/** An object that is inlined where it is used. */
export function object<F extends Fields>(
  fields: F,
  options?: TextOptions & { readonly mapType?: MapType },
): ObjectNode & Typed<FieldsType<F>>;
/** An object with its own definition, like every struct of a built-in kind. */
export function object<F extends Fields>(
  name: string,
  doc: string,
  fields: F,
  options?: TextOptions & { readonly mapType?: MapType },
): ObjectNode & Typed<FieldsType<F>>;
export function object(first: string | Fields, ...rest: readonly unknown[]): ObjectNode {
  const named = typeof first === 'string';
  const fields = (named ? rest[1] : first) as Fields;
  const { mapType, ...options } = ((named ? rest[2] : rest[0]) ?? {}) as TextOptions & { mapType?: MapType };
  return {
    type: 'object',
    fields,
    ...(named ? { name: first } : {}),
    ...(mapType ? { mapType } : {}),
    ...common(named ? { ...options, doc: rest[0] as string } : options),
  };
}

/** An object or, instead, a list of such objects, a boolean, or a list of strings. */
export function either<N extends Node>(object: N, or: 'list'): EitherNode & Typed<TypeOf<N> | readonly TypeOf<N>[]>;
export function either<N extends Node>(object: N, or: 'boolean'): EitherNode & Typed<TypeOf<N> | boolean>;
export function either<N extends Node>(object: N, or: 'strings'): EitherNode & Typed<TypeOf<N> | readonly string[]>;
export function either(object: Node, or: EitherNode['or']): EitherNode {
  return { type: 'either', object, or };
}

/** A node that is resolved on first use. Pass the static type, which cannot be inferred for recursive schemas. */
export function lazy<T>(resolve: () => Node): LazyNode & Typed<T> {
  return { type: 'lazy', resolve };
}

type FieldOptions = Patch &
  Topology & {
    readonly required?: boolean;
    readonly omitEmpty?: boolean;
    readonly pointer?: boolean;
    readonly goName?: string;
  };
type Usual = { readonly required: boolean; readonly omitEmpty: boolean; readonly pointer: boolean };

function field(args: readonly unknown[], usual: Usual): Field {
  const [number, rest] = typeof args[0] === 'number' ? [args[0], args.slice(1)] : [undefined, args];
  const [node, doc, options] = rest as [Node, string?, FieldOptions?];
  return {
    node,
    ...(doc === undefined ? {} : { doc }),
    ...(number === undefined ? {} : { number }),
    ...usual,
    ...options,
  };
}

/** Arguments of a field: its protobuf number, if any, its node, its documentation, exceptions. */
interface MakeField<P extends Presence> {
  <N extends Node>(number: number, node: N, doc?: string, options?: FieldOptions): TypedField<TypeOf<N>, P>;
  <N extends Node>(node: N, doc?: string, options?: FieldOptions): TypedField<TypeOf<N>, P>;
}

/** A field that must be given and is always written. A bare node means the same. */
export const required = ((...args: readonly unknown[]) =>
  field(args, { required: true, omitEmpty: false, pointer: false })) as MakeField<'required'>;

/** A field that is always written although clients need not set it: readers may rely on it. */
export const present = ((...args: readonly unknown[]) =>
  field(args, { required: false, omitEmpty: false, pointer: false })) as MakeField<'required'>;

/** A field that may be omitted and is omitted when empty: absent and empty are the same. */
export const optional = ((...args: readonly unknown[]) =>
  field(args, { required: false, omitEmpty: true, pointer: false })) as MakeField<'optional'>;

/** A field that may be omitted and whose empty value is kept: absent and empty differ. */
export const pointer = ((...args: readonly unknown[]) =>
  field(args, { required: false, omitEmpty: true, pointer: true })) as MakeField<'optional'>;

/** All fields of another object, among this object's own fields; the name of the field is only for readers. */
export function inline<N extends ObjectNode>(number: number, node: N): TypedField<TypeOf<N>, 'inline'> {
  return { node, number, required: false, omitEmpty: false, pointer: false, inline: true };
}

/** Returns a member as a field: a bare node is a required field. */
export function asField(member: Member): Field {
  if ('node' in member) return member;
  return { node: member, required: true, omitEmpty: false, pointer: false };
}

/** Resolves lazy nodes. */
export function resolve(node: Node): Exclude<Node, LazyNode> {
  let found = node;
  while (found.type === 'lazy') found = found.resolve();
  return found;
}

/** Yields the members of an object as JSON has them, in order, with those of inlined objects in their place. */
export function* flatFields(node: ObjectNode): Generator<readonly [name: string, field: Field]> {
  for (const [name, member] of Object.entries(node.fields)) {
    const field = asField(member);
    if (field.inline) yield* flatFields(resolve(field.node) as ObjectNode);
    else yield [name, field];
  }
}
