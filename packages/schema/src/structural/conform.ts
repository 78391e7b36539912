/**
 * Converts an object to the form of its schema in one walk: prunes unknown fields, drops nulls that are not nullable,
 * and sets defaults. An object that already conforms is returned itself; otherwise unchanged parts are shared.
 */
import { additionalOf, isObjectField, itemsOf, type JsonObject, type JsonSchema } from './json-schema.ts';

/** Converts an object to the form of its schema. Paths of pruned fields are added to `pruned`, in order. */
export type Conform = (object: JsonObject, pruned?: string[]) => JsonObject;

/** Returns the conversion of whole objects, whose apiVersion, kind and metadata are never pruned. */
export function conformer(schema: JsonSchema): Conform {
  const root = new SchemaShape({ ...schema, 'x-kubernetes-embedded-resource': true });
  return (object, pruned) => {
    const walk: Walk = { trail: [], pruned: pruned && [], keepsNulls: false };
    const conformed = conformObject(object, root, modeFor(root), walk);
    if (walk.pruned) pruned!.push(...walk.pruned.sort());
    return conformed;
  };
}

/** Returns a function that only sets defaults: unknown fields and nulls without default are kept. */
export function completer(schema: JsonSchema): (object: JsonObject) => JsonObject {
  const root = new SchemaShape(schema);
  return (object) => conformObject(object, root, 'keepAll', { trail: [], pruned: undefined, keepsNulls: true });
}

/** Returns the paths of unknown fields in a value. */
export function unknownFields(schema: JsonSchema, value: unknown): readonly string[] {
  const shape = new SchemaShape(schema);
  const walk: Walk = { trail: [], pruned: [], keepsNulls: false };
  conformValue(value, shape, modeFor(shape), walk);
  return walk.pruned!;
}

/** A schema that is prepared for the walk. */
type Shape = {
  readonly properties: ReadonlyMap<string, Shape>;
  /** Shape of additional properties; undefined if there are none. */
  readonly additional: Shape | undefined;
  readonly items: Shape;
  readonly preserves: boolean;
  readonly isResource: boolean;
  readonly isNullable: boolean;
  /** Default of an absent value, including the defaults inside it. */
  readonly defaultValue: unknown;
  /** Names of the properties that have a default. */
  readonly defaulted: readonly string[];
};

/**
 * Handling of unknown fields: pruned, kept in this object (or in the objects of this list), or kept in the whole
 * subtree.
 */
type Mode = 'prune' | 'keep' | 'keepAll';

type Walk = {
  /** Current path; converted to text only for pruned fields. */
  readonly trail: (string | number)[];
  readonly pruned: string[] | undefined;
  /** True if nulls are kept that are neither nullable nor have a default. */
  readonly keepsNulls: boolean;
};

/** Shape of values without a schema: all fields are unknown. */
const unknownShape: Shape = {
  properties: new Map(),
  additional: undefined,
  get items() {
    return unknownShape;
  },
  preserves: false,
  isResource: false,
  isNullable: true,
  defaultValue: undefined,
  defaulted: [],
};

/** Shape of a schema. Children are prepared on first use: most objects use a small part of a large schema. */
class SchemaShape implements Shape {
  readonly preserves: boolean;
  readonly isResource: boolean;
  readonly isNullable: boolean;
  readonly defaulted: readonly string[];
  readonly properties: ReadonlyMap<string, Shape>;
  readonly #schema: JsonSchema;
  #items: Shape | undefined;
  #additional: Shape | undefined;
  #default: unknown;

  constructor(schema: JsonSchema) {
    const properties = Object.entries(schema.properties ?? {});
    this.#schema = schema;
    this.preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
    this.isResource = schema['x-kubernetes-embedded-resource'] === true;
    this.isNullable = schema.nullable === true;
    // Assigning `__proto__` would set the prototype.
    const isField = (name: string) => name !== '__proto__';
    this.defaulted = properties
      .filter(([name, property]) => isField(name) && hasDefault(property))
      .map(([name]) => name);
    this.properties = new LazyShapes(properties);
  }

  get additional(): Shape | undefined {
    // Forbidden fields are kept, too: validation must see them to report them.
    if (this.#schema.additionalProperties === undefined) return undefined;
    const schema = additionalOf(this.#schema);
    return (this.#additional ??= schema === undefined ? unknownShape : new SchemaShape(schema));
  }

  get items(): Shape {
    const schema = itemsOf(this.#schema);
    return (this.#items ??= schema === undefined ? unknownShape : new SchemaShape(schema));
  }

  get defaultValue(): unknown {
    if (!hasDefault(this.#schema)) return undefined;
    return (this.#default ??= conformValue(this.#schema.default, this, modeFor(this), {
      trail: [],
      pruned: undefined,
      keepsNulls: false,
    }));
  }
}

class LazyShapes extends Map<string, Shape> {
  readonly #schemas: Map<string, JsonSchema>;

  constructor(schemas: Iterable<readonly [string, JsonSchema]>) {
    super();
    this.#schemas = new Map(schemas);
  }

  override get(name: string): Shape | undefined {
    const known = super.get(name);
    if (known !== undefined) return known;
    const schema = this.#schemas.get(name);
    if (schema === undefined) return undefined;
    const shape = new SchemaShape(schema);
    this.set(name, shape);
    return shape;
  }
}

function hasDefault(schema: JsonSchema): boolean {
  return schema.default !== undefined && schema.default !== null;
}

function modeFor(shape: Shape): Mode {
  return shape.preserves ? 'keep' : 'prune';
}

function conformValue(value: unknown, shape: Shape, mode: Mode, walk: Walk): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value)
    ? conformList(value, shape, mode, walk)
    : conformObject(value as JsonObject, shape, mode, walk);
}

function conformObject(object: JsonObject, shape: Shape, mode: Mode, walk: Walk): JsonObject {
  const { properties, isResource } = shape;
  let copy: { [name: string]: unknown } | undefined;
  for (const name in object) {
    const isKept = mode === 'keepAll' || (isResource && isObjectField(name));
    const child = properties.get(name) ?? (isResource && isObjectField(name) ? undefined : shape.additional);
    if (child === undefined) {
      if (isKept || mode === 'keep') continue;
      copy ??= { ...object };
      delete copy[name];
      walk.pruned?.push(pathTo(walk.trail, name));
      continue;
    }
    const value = object[name];
    if (value === null && !child.isNullable) {
      const { defaultValue } = child;
      if (defaultValue === undefined && walk.keepsNulls) continue;
      copy ??= { ...object };
      if (defaultValue === undefined) delete copy[name];
      else copy[name] = defaultValue;
    } else if (typeof value === 'object' && value !== null) {
      walk.trail.push(name);
      const conformed = conformValue(value, child, isKept ? 'keepAll' : modeFor(child), walk);
      walk.trail.pop();
      if (conformed !== value) {
        copy ??= { ...object };
        copy[name] = conformed;
      }
    }
  }
  for (const name of shape.defaulted) {
    if (Object.hasOwn(copy ?? object, name)) continue;
    copy ??= { ...object };
    copy[name] = properties.get(name)!.defaultValue;
  }
  return copy ?? object;
}

function conformList(list: readonly unknown[], shape: Shape, mode: Mode, walk: Walk): readonly unknown[] {
  const { items } = shape;
  const itemMode = mode === 'prune' ? modeFor(items) : mode;
  let copy: unknown[] | undefined;
  for (const [index, item] of list.entries()) {
    let conformed = item;
    if (item === null) {
      if (!items.isNullable) conformed = items.defaultValue ?? null;
    } else if (typeof item === 'object') {
      walk.trail.push(index);
      conformed = conformValue(item, items, itemMode, walk);
      walk.trail.pop();
    }
    if (conformed !== item) {
      copy ??= [...list];
      copy[index] = conformed;
    }
  }
  return copy ?? list;
}

function pathTo(trail: readonly (string | number)[], name: string): string {
  let path = '';
  for (const step of trail) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`;
  return path === '' ? name : `${path}.${name}`;
}
