/**
 * Merge type of a schema: which values are allowed, which maps and lists are atomic, and how items of other lists are
 * identified. Strategic merge patch and server-side apply use merge types, both for built-in kinds (from their nodes)
 * and for custom resources (from their schemas).
 *
 * A type describes how a value merges as a scalar, as a list and as a map. Most types allow one of the three; where any
 * value is allowed, all three are present and the value decides.
 */
import { type Field, flatFields, type ListNode, type Node, type ObjectNode, resolve } from './language.ts';
import type { JsonSchema } from './structural/json-schema.ts';

/** Merge behaviour of values of one type. */
export type MergeType = {
  /** Allowed scalars: of one type, or `any`; `undefined` if none is allowed. */
  readonly scalar: ScalarType | undefined;
  readonly list: ListMergeType | undefined;
  readonly map: MapMergeType | undefined;
  /** Go type for messages of strategic merge patch: its kind, and the name of a struct. */
  readonly goKind: string;
  readonly goName: string;
};

/** Scalars that a type allows. */
export type ScalarType = 'string' | 'numeric' | 'boolean' | 'any';

/** Merge behaviour of a list. */
export type ListMergeType = {
  /** `atomic`: the list is one value. `set`: each item is its own key. `map`: some fields of an item are its key. */
  readonly relation: 'atomic' | 'set' | 'map';
  /** The key fields of a `map`, as the schema lists them. */
  readonly keys: readonly MergeKey[];
  /** The keys sorted by name: the order in which a key is written. */
  readonly sortedKeys: readonly MergeKey[];
  readonly element: MergeType;
};

/** A key field, and its default for items without it. */
export type MergeKey = { readonly name: string; readonly default: unknown };

/** Merge behaviour of a map or struct. */
export type MapMergeType = {
  /** The map is one value. */
  readonly isAtomic: boolean;
  /** Named fields; empty for maps from strings to values of one type. */
  readonly fields: ReadonlyMap<string, MergeField>;
  /** Type of all other fields; `undefined` if there are none. */
  readonly element: MergeType | undefined;
};

/** A named field, with its strategy in a strategic merge patch. */
export type MergeField = {
  readonly name: string;
  readonly type: MergeType;
  readonly default: unknown;
  /** `merge` for lists that merge by key or value, `replace` for maps that do not merge; undefined for the default. */
  readonly patchStrategy: 'merge' | 'replace' | undefined;
  /** A patch may list the keys to keep in `$retainKeys`. */
  readonly retainsKeys: boolean;
  readonly patchMergeKey: string | undefined;
  readonly isPointer: boolean;
};

const noFields: ReadonlyMap<string, MergeField> = new Map();

/** Any value, atomic: an embedded object without a schema. */
export const untyped: MergeType = {
  scalar: 'any',
  list: { relation: 'atomic', keys: [], sortedKeys: [], element: undefined as never },
  map: { isAtomic: true, fields: noFields, element: undefined },
  goKind: 'struct',
  goName: 'RawExtension',
};
Object.assign(untyped.list as object, { element: untyped });
Object.assign(untyped.map as object, { element: untyped });

/** Any value; maps merge field by field, lists are atomic. Used for values without a schema. */
export const deduced: MergeType = {
  scalar: 'any',
  list: untyped.list,
  map: { isAtomic: false, fields: noFields, element: undefined },
  goKind: 'struct',
  goName: 'JSON',
};
Object.assign(deduced.map as object, { element: deduced });

/** Returns the type of a field: its own type, that of all other fields, or none. */
export function fieldTypeOf(map: MapMergeType, name: string): MergeType | undefined {
  return map.fields.get(name)?.type ?? map.element;
}

// Fields and elements are resolved on first use: schemas are recursive, and most of a schema is never used. Classes are
// faster than literals with getters, because all types have one shape.

class LazyMap implements MapMergeType {
  readonly isAtomic: boolean;
  readonly #fieldsOf: () => ReadonlyMap<string, MergeField>;
  readonly #elementOf: (() => MergeType) | undefined;
  #fields: ReadonlyMap<string, MergeField> | undefined;
  #element: MergeType | undefined;

  constructor(isAtomic: boolean, fieldsOf: () => ReadonlyMap<string, MergeField>, elementOf?: () => MergeType) {
    this.isAtomic = isAtomic;
    this.#fieldsOf = fieldsOf;
    this.#elementOf = elementOf;
  }

  get fields(): ReadonlyMap<string, MergeField> {
    this.#fields ??= this.#fieldsOf();
    return this.#fields;
  }

  get element(): MergeType | undefined {
    this.#element ??= this.#elementOf?.();
    return this.#element;
  }
}

class LazyList implements ListMergeType {
  readonly relation: ListMergeType['relation'];
  readonly #keyNames: readonly string[];
  readonly #elementOf: () => MergeType;
  #element: MergeType | undefined;
  #keys: readonly MergeKey[] | undefined;
  #sortedKeys: readonly MergeKey[] | undefined;

  constructor(relation: ListMergeType['relation'], keyNames: readonly string[], elementOf: () => MergeType) {
    this.relation = relation;
    this.#keyNames = keyNames;
    this.#elementOf = elementOf;
  }

  get element(): MergeType {
    this.#element ??= this.#elementOf();
    return this.#element;
  }

  get keys(): readonly MergeKey[] {
    this.#keys ??= this.#keyNames.map((name) => ({ name, default: this.element.map?.fields.get(name)?.default }));
    return this.#keys;
  }

  get sortedKeys(): readonly MergeKey[] {
    this.#sortedKeys ??= this.keys.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sortedKeys;
  }
}

type Parts = { readonly scalar?: ScalarType; readonly list?: ListMergeType; readonly map?: MapMergeType };

function typeOf({ scalar, list, map }: Parts, goKind: string, goName = ''): MergeType {
  return { scalar, list, map, goKind, goName };
}

const stringType = typeOf({ scalar: 'string' }, 'string');
const booleanType = typeOf({ scalar: 'boolean' }, 'bool');
const int32Type = typeOf({ scalar: 'numeric' }, 'int32');
const int64Type = typeOf({ scalar: 'numeric' }, 'int64');
const numberType = typeOf({ scalar: 'numeric' }, 'float64');
const bytesType = typeOf({ scalar: 'string' }, 'slice');
const anyText = typeOf({ scalar: 'any' }, 'string');
const timeType = typeOf({ scalar: 'any' }, 'struct', 'Time');
const microTimeType = typeOf({ scalar: 'any' }, 'struct', 'MicroTime');
const durationType = typeOf({ scalar: 'string' }, 'struct', 'Duration');
const quantityType = typeOf({ scalar: 'any' }, 'struct', 'Quantity');
const intOrStringType: MergeType = { ...deduced, goName: 'IntOrString' };
const fieldsV1Type = typeOf({ map: deduced.map! }, 'struct', 'FieldsV1');
const eitherNames = {
  list: 'JSONSchemaPropsOrArray',
  boolean: 'JSONSchemaPropsOrBool',
  strings: 'JSONSchemaPropsOrStringArray',
} as const;

const compiled = new WeakMap<Node, MergeType>();

/**
 * Returns the merge type of a node.
 *
 * ```ts
 * const merged = applyStrategicMergePatch(web, { spec: { priority: 1 } }, mergeTypeOf(pod.root));
 * ```
 */
export function mergeTypeOf(node: Node): MergeType {
  let type = compiled.get(node);
  if (!type) {
    type = compile(node);
    compiled.set(node, type);
  }
  return type;
}

function compile(unresolved: Node): MergeType {
  const node = resolve(unresolved);
  switch (node.type) {
    case 'string':
      return isPlainText(node.constraints?.format) ? stringType : anyText;
    case 'boolean':
      return booleanType;
    case 'integer':
      return node.format === 'int32' ? int32Type : int64Type;
    case 'number':
      return numberType;
    case 'bytes':
      return bytesType;
    case 'time':
      return timeType;
    case 'microTime':
      return microTimeType;
    case 'duration':
      return durationType;
    case 'quantity':
      return quantityType;
    case 'intOrString':
      return intOrStringType;
    case 'any':
      return compileAny(node);
    case 'either':
      return { ...deduced, goName: eitherNames[node.or] };
    case 'list':
      return listTypeOf(node, node.listType ?? 'atomic', node.keys ?? []);
    case 'map':
      return typeOf(
        {
          map: new LazyMap(
            node.mapType === 'atomic',
            () => noFields,
            () => mergeTypeOf(node.values),
          ),
        },
        'map',
      );
    case 'object':
      return typeOf({ map: structureOf(node) }, 'struct', node.name?.slice(node.name.lastIndexOf('.') + 1));
  }
}

function compileAny(node: Node & { readonly type: 'any' }): MergeType {
  if (node.form === 'rawExtension') return untyped;
  if (node.form === 'json') return deduced;
  if (node.form === 'fieldsV1') return fieldsV1Type;
  const { partial } = node;
  if (!partial) return typeOf({ map: deduced.map! }, 'map');
  const fields = () => fieldsOf(flatFields({ type: 'object', fields: partial }));
  return typeOf({ map: new LazyMap(false, fields, () => deduced) }, 'map');
}

/** An object without named fields accepts any field. */
function structureOf(node: ObjectNode): MapMergeType {
  const isFree = Object.keys(node.fields).length === 0;
  const isAtomic = node.mapType === 'atomic';
  return new LazyMap(isAtomic, () => fieldsOf(flatFields(node)), isFree ? () => deduced : undefined);
}

function fieldsOf(fields: Iterable<readonly [string, Field]>): ReadonlyMap<string, MergeField> {
  return new Map(Array.from(fields, ([name, field]) => [name, new NodeField(name, field)]));
}

class NodeField implements MergeField {
  readonly name: string;
  readonly default: unknown;
  readonly patchStrategy: MergeField['patchStrategy'];
  readonly retainsKeys: boolean;
  readonly patchMergeKey: string | undefined;
  readonly isPointer: boolean;
  readonly #field: Field;
  #type: MergeType | undefined;

  constructor(name: string, field: Field) {
    const strategies = field.patchStrategy?.split(',') ?? [];
    this.name = name;
    this.default = defaultOf(field);
    this.patchStrategy = strategies.find((each) => each === 'merge' || each === 'replace');
    this.retainsKeys = strategies.includes('retainKeys');
    this.patchMergeKey = field.patchMergeKey;
    this.isPointer = field.pointer;
    this.#field = field;
  }

  get type(): MergeType {
    this.#type ??= fieldType(this.#field);
    return this.#type;
  }
}

/** Returns the type of a field. A list without a list type takes it from its patch strategy. */
function fieldType(field: Field): MergeType {
  const node = resolve(field.node);
  if (node.type === 'object' && field.mapType) return compile({ ...node, mapType: field.mapType });
  if (node.type !== 'list' || node.listType || !field.patchStrategy?.startsWith('merge'))
    return mergeTypeOf(field.node);
  return listTypeOf(node, field.patchMergeKey ? 'map' : 'set', field.patchMergeKey ? [field.patchMergeKey] : []);
}

function listTypeOf(node: ListNode, relation: ListMergeType['relation'], keys: readonly string[]): MergeType {
  return typeOf({ list: new LazyList(relation, keys, () => mergeTypeOf(node.items)) }, 'slice');
}

/**
 * Returns the default of a key field. In Go, a field that is neither a pointer nor `omitempty` is never absent, only
 * empty.
 */
function defaultOf(field: Field): unknown {
  const node = resolve(field.node);
  if (node.constraints?.default !== undefined) return node.constraints.default;
  if (field.pointer || field.omitEmpty) return undefined;
  if (node.type === 'string') return '';
  if (node.type === 'integer' || node.type === 'number') return 0;
  return node.type === 'boolean' ? false : undefined;
}

/**
 * Returns the merge type of a custom resource: its schema with the common fields of all objects. `metadata` is the
 * merge type of ObjectMeta. A resource without a schema accepts anything.
 */
export function mergeTypeOfStructural(schema: JsonSchema | undefined, metadata: MergeType): MergeType {
  if (!schema) return typeOf({ map: deduced.map! }, 'map');
  return compileStructural({ ...schema, 'x-kubernetes-embedded-resource': true }, metadata, false);
}

function compileStructural(schema: JsonSchema, metadata: MergeType, inherited: boolean): MergeType {
  // Unknown fields are preserved in the whole subtree of the object that declares it.
  const preserves = inherited || schema['x-kubernetes-preserve-unknown-fields'] === true;
  switch (schema.type) {
    case 'object':
      return typeOf({ map: structuralMap(schema, metadata, preserves) }, 'map');
    case 'array':
      return typeOf({ list: structuralList(schema, metadata, preserves) }, 'slice');
    case 'string':
      return isPlainText(schema.format) ? stringType : anyText;
    case 'integer':
    case 'number':
      return numberType;
    case 'boolean':
      return booleanType;
    default:
      return typeOf(
        {
          scalar: 'any',
          list: structuralList(schema, metadata, preserves),
          map: structuralMap(schema, metadata, preserves),
        },
        'interface',
      );
  }
}

function structuralMap(schema: JsonSchema, metadata: MergeType, preserves: boolean): MapMergeType {
  const properties = schema.properties ?? {};
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  const isFree = preserves || (!isResource && Object.keys(properties).length === 0);
  const fields = () => {
    const found = new Map<string, MergeField>();
    for (const [name, property] of Object.entries(properties)) {
      found.set(name, structuralField(name, compileStructural(property, metadata, preserves), property.default));
    }
    if (isResource) {
      found.set('apiVersion', structuralField('apiVersion', stringType));
      found.set('kind', structuralField('kind', stringType));
      found.set('metadata', structuralField('metadata', metadata));
    }
    return found;
  };
  return new LazyMap(
    schema['x-kubernetes-map-type'] === 'atomic',
    fields,
    elementOf(schema, metadata, preserves, isFree),
  );
}

function elementOf(
  { additionalProperties }: JsonSchema,
  metadata: MergeType,
  preserves: boolean,
  isFree: boolean,
): (() => MergeType) | undefined {
  if (typeof additionalProperties === 'object')
    return () => compileStructural(additionalProperties, metadata, preserves);
  if (additionalProperties === undefined ? isFree : additionalProperties) return () => deduced;
  return undefined;
}

function structuralField(name: string, type: MergeType, value?: unknown): MergeField {
  return {
    name,
    type,
    default: value ?? undefined,
    patchStrategy: undefined,
    retainsKeys: false,
    patchMergeKey: undefined,
    isPointer: false,
  };
}

function structuralList(schema: JsonSchema, metadata: MergeType, preserves: boolean): ListMergeType {
  const { items } = schema;
  const listType = schema['x-kubernetes-list-type'];
  const relation = listType === 'map' || listType === 'set' ? listType : 'atomic';
  const keys = relation === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
  const isTyped = items !== undefined && !Array.isArray(items);
  return new LazyList(relation, keys, () =>
    isTyped ? compileStructural(items as JsonSchema, metadata, preserves) : untyped,
  );
}

function isPlainText(format: string | undefined): boolean {
  return !format || format === 'byte';
}
