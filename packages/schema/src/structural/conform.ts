/**
 * Brings an object into the form its schema gives it, in one walk: fields the schema does not know are pruned,
 * nulls where none may be are dropped, absent fields get their defaults. An object that has that form already is
 * returned as it is; of any other, the parts that keep their form are shared.
 */
import { additionalOf, isObjectField, itemsOf, type JsonObject, type JsonSchema } from './json-schema.ts';

/** Gives an object the form its schema asks for. Paths of pruned fields are added to `pruned`, in order. */
export type Conform = (object: JsonObject, pruned?: string[]) => JsonObject;

/** A `Conform` for whole objects: their apiVersion, kind and metadata are not the schema's to prune. */
export function conformer(schema: JsonSchema): Conform {
  const root = new SchemaShape({ ...schema, 'x-kubernetes-embedded-resource': true });
  return (object, pruned) => {
    const walk: Walk = { trail: [], pruned: pruned && [], keepsNulls: false };
    const conformed = conformObject(object, root, modeFor(root), walk);
    if (walk.pruned) pruned!.push(...walk.pruned.sort());
    return conformed;
  };
}

/** Sets the defaults of an object and does nothing else to it: what is unknown stays, and so do nulls without default. */
export function completer(schema: JsonSchema): (object: JsonObject) => JsonObject {
  const root = new SchemaShape(schema);
  return (object) => conformObject(object, root, 'keepAll', { trail: [], pruned: undefined, keepsNulls: true });
}

/** The paths of fields in a value that its schema does not know. */
export function unknownFields(schema: JsonSchema, value: unknown): readonly string[] {
  const shape = new SchemaShape(schema);
  const walk: Walk = { trail: [], pruned: [], keepsNulls: false };
  conformValue(value, shape, modeFor(shape), walk);
  return walk.pruned!;
}

/** A schema made ready for the walk. */
type Shape = {
  readonly properties: ReadonlyMap<string, Shape>;
  /** What properties without a shape of their own have; undefined where there may be none. */
  readonly additional: Shape | undefined;
  readonly items: Shape;
  readonly preserves: boolean;
  readonly isResource: boolean;
  readonly isNullable: boolean;
  /** What an absent value is given, complete with the defaults inside it. */
  readonly defaultValue: unknown;
  /** Names of the properties that have a default. */
  readonly defaulted: readonly string[];
};

/** What becomes of unknown fields: pruned, kept in this object (or in the objects of this list), or kept all the way down. */
type Mode = 'prune' | 'keep' | 'keepAll';

type Walk = {
  /** Where the walk is; kept only as deep as objects and lists go, and made into text only for what is pruned. */
  readonly trail: (string | number)[];
  readonly pruned: string[] | undefined;
  /** Whether a null stays that there should not be, and for which there is no default. */
  readonly keepsNulls: boolean;
};

/** The shape of what has no schema: nothing in it is known. */
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

/** Children are made ready when first met: most objects use a small part of a large schema. */
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
    // To set this one name would be to set something else.
    const isField = (name: string) => name !== '__proto__';
    this.defaulted = properties
      .filter(([name, property]) => isField(name) && hasDefault(property))
      .map(([name]) => name);
    this.properties = new LazyShapes(properties);
  }

  get additional(): Shape | undefined {
    // Even where they are forbidden: for validation to tell, they must not have been pruned.
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
