/**
 * Canonical form of an object: the result of decoding JSON into Kubernetes' Go structs and encoding it again. Fields
 * are in Go's order, empty fields are omitted or written as their type requires, maps are sorted, and quantities and
 * times have a unique spelling.
 *
 * Nearly every object is canonical already, because a server wrote it. A canonicalizer therefore compares key by key
 * and creates a new object only where something differs. A canonical object is returned itself, or as a copy if the
 * caller asks for new objects. For a wrong value the canonicalizer reports only that it is wrong: `go-decoder.ts`
 * creates the error message.
 */
import { canonicalBase64 } from '@kruise/values/base64';
import { canonicalDuration } from '@kruise/values/duration';
import { compareStrings } from '@kruise/values/go-syntax';
import { canonicalQuantity } from '@kruise/values/quantity';
import { canonicalMicroTime, canonicalTime } from '@kruise/values/time';
import { setOwn } from '../json-document.ts';
import { type EitherNode, type MapNode, type Node, type ObjectNode, resolve } from '../language.ts';
import type { FieldPlan } from './field-plan.ts';
import { absentValueOf, assemble, place, shapeOf, zeroOf } from './object-shape.ts';

/** Options of one walk, and its findings beside the value. */
export type Walk = {
  /** Objects and lists of the result are new and may be mutated by the caller. Opaque JSON is shared nevertheless. */
  readonly isFresh: boolean;
  /** Stored objects pass through protobuf, which cannot distinguish an empty list from none. */
  readonly isStored?: boolean;
  /** Parts that are known to be canonical, such as those of a stored object. They are shared even by a new result. */
  readonly known?: Known | undefined;
  sawUnknown: boolean;
};

/** Objects and lists that are known to be canonical. */
export type Known = ReadonlySet<unknown>;

/** Returns the canonical form of a present value; throws if the value has another type than the schema. */
export type Canonicalize = (value: unknown, walk: Walk) => unknown;

type JsonObject = { readonly [key: string]: unknown };

/**
 * Thrown for every value of the wrong type. A single instance, because creating an error costs more than decoding a
 * Pod.
 */
export const mismatch = new Error('the value is not of the type its schema says');

const compiled = new WeakMap<Node, Canonicalize>();

/** Returns the canonicalizer of a node, compiled on first use. */
export function canonicalizerOf(node: Node): Canonicalize {
  const known = compiled.get(node);
  if (known) return known;
  const made = compile(resolve(node));
  compiled.set(node, made);
  return made;
}

function compile(node: Exclude<Node, { type: 'lazy' }>): Canonicalize {
  switch (node.type) {
    case 'string':
      return (value) => (typeof value === 'string' ? value : fail());
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? value : fail());
    case 'integer':
      return node.format === 'int32' ? int32 : int64;
    case 'number':
      return (value) => (typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : fail());
    case 'bytes':
      return textual(canonicalBase64);
    case 'time':
      return textual(canonicalTime);
    case 'microTime':
      return textual(canonicalMicroTime);
    case 'duration':
      return textual(canonicalDuration);
    case 'quantity':
      return quantity;
    case 'intOrString':
      return (value) => (typeof value === 'string' ? value : int32(value));
    case 'any':
      return (value) => value;
    case 'map':
      return compileMap(node);
    case 'list':
      return compileList(node.items);
    case 'object':
      return compileObject(node);
    case 'either':
      return compileEither(node);
  }
}

function fail(): never {
  throw mismatch;
}

function int32(value: unknown): unknown {
  return typeof value === 'number' && (value | 0) === value ? value : fail();
}

function int64(value: unknown): unknown {
  if (Number.isSafeInteger(value)) return value;
  const exact =
    typeof value === 'bigint' ? value : typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : fail();
  if (BigInt.asIntN(64, exact) !== exact) fail();
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
}

function textual(canonical: (text: string) => string | null): Canonicalize {
  return (value) => (typeof value === 'string' ? canonical(value) : fail());
}

function quantity(value: unknown): unknown {
  // Kubernetes parses a quantity from the raw JSON and trims the spaces around it.
  if (typeof value === 'string') return canonicalQuantity(value.trim());
  return typeof value === 'number' || typeof value === 'bigint' ? canonicalQuantity(String(value)) : fail();
}

function compileList(itemNode: Node): Canonicalize {
  const item = elementOf(itemNode);
  return (value, walk) => {
    if (!Array.isArray(value)) fail();
    if (walk.known?.has(value)) return value;
    const items: readonly unknown[] = value;
    let copy: unknown[] | undefined;
    for (let index = 0; index < items.length; index++) {
      const before = items[index];
      const after = item(before, walk);
      if (after === before) continue;
      copy ??= items.slice();
      copy[index] = after;
    }
    return copy ?? (walk.isFresh ? items.slice() : items);
  };
}

/** Returns the canonicalizer of a value in a list or map: null is the zero value there, not an absence. */
function elementOf(node: Node): Canonicalize {
  let canonical: Canonicalize | undefined;
  return (value, walk) => {
    canonical ??= canonicalizerOf(node);
    return value == null ? zeroOf(node) : canonical(value, walk);
  };
}

const surrogate = /[\ud800-\udfff]/;

function compileMap({ values }: MapNode): Canonicalize {
  const element = elementOf(values);
  return (value, walk) => {
    if (!isObject(value)) fail();
    let copy: Record<string, unknown> | undefined;
    let previous: string | undefined;
    let isSorted = true;
    for (const key in value) {
      // UTF-16 order equals byte order as long as there are no surrogates.
      if ((previous !== undefined && previous > key) || surrogate.test(key)) isSorted = false;
      previous = key;
      const before = value[key];
      const after = element(before, walk);
      if (after === before) continue;
      copy ??= { ...value };
      setOwn(copy, key, after);
    }
    const result = copy ?? (walk.isFresh ? { ...value } : value);
    return isSorted ? result : sortKeys(result);
  };
}

function sortKeys(map: JsonObject): JsonObject {
  const keys = Object.keys(map);
  const sorted: Record<string, unknown> = {};
  for (const key of keys.toSorted(compareStrings)) setOwn(sorted, key, map[key]);
  // JavaScript always puts keys like `10` first; such a map is as sorted as it can be.
  const inOrder = Object.keys(sorted);
  return inOrder.every((key, index) => key === keys[index]) ? map : sorted;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function compileEither(node: EitherNode): Canonicalize {
  const object = canonicalizerOf(node.object);
  const { or } = node;
  if (or === 'boolean') return (value, walk) => (typeof value === 'boolean' ? value : object(value, walk));
  const list = compileList(or === 'list' ? node.object : { type: 'string' });
  return (value, walk) => {
    if (isObject(value)) return object(value, walk);
    // Kubernetes decodes anything else as neither, and writes null.
    return Array.isArray(value) && value.length > 0 ? list(value, walk) : null;
  };
}

/**
 * Position of a field in its object, and the canonicalizer of its value, which returns undefined if the field is
 * omitted.
 */
type Slot = { readonly position: number; readonly isAlwaysWritten: boolean; readonly settle: Canonicalize };

function compileObject(node: ObjectNode): Canonicalize {
  const shape = shapeOf(node);
  const slots = new Map<string, Slot>();
  for (const [position, plan] of shape.plans.entries()) {
    slots.set(plan.name, { position, isAlwaysWritten: plan.alwaysWritten, settle: settler(plan) });
  }
  const alwaysWrittenCount = shape.plans.filter((plan) => plan.alwaysWritten).length;

  return (value, walk) => {
    if (!isObject(value)) fail();
    if (walk.known?.has(value)) return value;
    let copy: Record<string, unknown> | undefined;
    let placed: unknown[] | undefined;
    let last = -1;
    let alwaysWritten = 0;
    for (const key in value) {
      const slot = slots.get(key);
      const before = value[key];
      const after = slot?.settle(before, walk);
      if (placed === undefined && slot !== undefined && after !== undefined && slot.position > last) {
        last = slot.position;
        if (slot.isAlwaysWritten) alwaysWritten++;
        if (after !== before) {
          copy ??= { ...value };
          copy[key] = after;
        }
        continue;
      }
      if (slot === undefined) walk.sawUnknown = true;
      placed ??= place(shape, copy ?? value, key);
      if (slot !== undefined) placed[slot.position] = after;
    }
    if (placed === undefined) {
      if (alwaysWritten === alwaysWrittenCount) return copy ?? (walk.isFresh ? { ...value } : value);
      placed = place(shape, copy ?? value);
    }
    return assemble(shape, placed);
  };
}

/** Returns the canonicalizer of a field's value, including its absence. */
function settler(plan: FieldPlan): Canonicalize {
  const absent = absentValueOf(plan);
  let canonical: Canonicalize | undefined;
  const present: Canonicalize = (value, walk) => {
    // Compiled on first use: most fields of most objects are never used.
    canonical ??= canonicalizerOf(plan.node);
    return canonical(value, walk);
  };
  if ((plan.pointer || !plan.omitEmpty) && plan.node.type === 'list' && plan.field.number !== undefined) {
    return (value, walk) => {
      if (value == null) return absent();
      const list = present(value, walk) as readonly unknown[];
      return list.length === 0 && walk.isStored ? absent() : list;
    };
  }
  if (plan.pointer || !plan.omitEmpty) {
    return (value, walk) => (value == null ? absent() : (present(value, walk) ?? absent()));
  }
  switch (plan.node.type) {
    case 'string':
      return (value) => (typeof value === 'string' ? value || undefined : value == null ? undefined : fail());
    case 'boolean':
    case 'integer':
    case 'number':
      return (value, walk) => (value == null ? undefined : present(value, walk) || undefined);
    case 'bytes':
      return (value, walk) => (value == null ? undefined : present(value, walk) || undefined);
    case 'list':
      return (value, walk) => {
        if (value == null) return undefined;
        const list = present(value, walk) as readonly unknown[];
        return list.length === 0 ? undefined : list;
      };
    case 'map':
      return (value, walk) => {
        if (value == null) return undefined;
        const map = present(value, walk) as JsonObject;
        for (const _ in map) return map;
        return undefined;
      };
    default:
      return (value, walk) => (value == null ? absent() : (present(value, walk) ?? absent()));
  }
}
