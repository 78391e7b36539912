/** Lists and maps: of computed values, and of JSON with a type. */

import { escapeIdentifier, unescapeIdentifier } from './escaping.ts';
import { Duration, Timestamp } from './time.ts';
import type { Type } from './types.ts';
import { Double, EvaluationError, orNoSuchOverload, Uint, type Value } from './values.ts';

/** Identity of the elements of a list: by position, by value, or by the named properties. */
export type ListIdentity = 'position' | 'set' | readonly string[];

/** An immutable list. */
export abstract class ListValue {
  abstract readonly size: number;

  get identity(): ListIdentity {
    return 'position';
  }

  /** True for JSON with a declared type, which has stricter comparison rules. */
  get isDeclared(): boolean {
    return false;
  }

  /** Returns the element at an index in range. */
  abstract at(index: number): Value;

  *[Symbol.iterator](): Generator<Value> {
    for (let index = 0; index < this.size; index++) yield this.at(index);
  }
}

/** A list of values in an array. */
export class ArrayList extends ListValue {
  readonly values: Value[];

  constructor(values: Value[]) {
    super();
    this.values = values;
  }

  get size(): number {
    return this.values.length;
  }

  at(index: number): Value {
    return this.values[index]!;
  }
}

/** A list under construction by the comprehension that owns it: appending mutates it in place. */
export class GrowingList extends ArrayList {}

/** Concatenation of two lists. It is materialized lazily, so that adding lists is cheap. */
class JoinedList extends ListValue {
  readonly first: ListValue;
  readonly second: ListValue;
  readonly size: number;

  constructor(first: ListValue, second: ListValue) {
    super();
    this.first = first;
    this.second = second;
    this.size = first.size + second.size;
  }

  // `a + b + c + …` nests to the left as deep as it is long: a loop avoids a stack overflow.
  at(index: number): Value {
    let list: ListValue = this;
    while (list instanceof JoinedList) {
      if (index < list.first.size) {
        list = list.first;
      } else {
        index -= list.first.size;
        list = list.second;
      }
    }
    return list.at(index);
  }
}

/** A JSON array with the type of its items. */
export class JsonList extends ListValue {
  readonly items: readonly unknown[];
  readonly read: (json: unknown) => Value;
  readonly #identity: ListIdentity | undefined;

  /** Without an identity, the list has no declared type. */
  constructor(items: readonly unknown[], read: (json: unknown) => Value, identity?: ListIdentity) {
    super();
    this.items = items;
    this.read = read;
    this.#identity = identity;
  }

  override get identity(): ListIdentity {
    return this.#identity ?? 'position';
  }

  override get isDeclared(): boolean {
    return this.#identity !== undefined;
  }

  get size(): number {
    return this.items.length;
  }

  at(index: number): Value {
    return this.read(this.items[index]);
  }
}

/** A list whose elements have keys: the result of adding to a JSON set or list-map. */
class KeyedList extends ArrayList {
  readonly #identity: ListIdentity;

  constructor(values: Value[], identity: ListIdentity) {
    super(values);
    this.#identity = identity;
  }

  override get identity(): ListIdentity {
    return this.#identity;
  }
}

/**
 * Adds two lists. A JSON list that is declared as a set or map keeps its keys unique, as when such lists are merged.
 */
export function concatenate(a: ListValue, b: Value): ListValue | EvaluationError {
  if (!(b instanceof ListValue)) return orNoSuchOverload(b);
  if (a instanceof GrowingList) {
    for (let index = 0; index < b.size; index++) a.values.push(b.at(index));
    return a;
  }
  const { identity } = a;
  if (identity !== 'position') return new KeyedList(mergeByKey(a, b, identity), identity);
  if (a.size === 0) return b;
  return b.size === 0 ? a : new JoinedList(a, b);
}

function mergeByKey(a: ListValue, b: ListValue, identity: 'set' | readonly string[]): Value[] {
  const merged = new Map<string, Value>();
  for (const value of a) merged.set(elementKey(value, identity), value);
  for (const value of b) {
    const key = elementKey(value, identity);
    if (identity !== 'set' || !merged.has(key)) merged.set(key, value);
  }
  return [...merged.values()];
}

/** Returns the key of an element of a set or list-map. */
export function elementKey(value: Value, identity: 'set' | readonly string[]): string {
  if (identity === 'set') return scalarKey(value);
  if (!(value instanceof MapValue)) return scalarKey(value);
  return identity.map((property) => scalarKey(value.find(property) ?? null)).join('\0');
}

function scalarKey(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Double || value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return `${value.seconds}.${value.nanos}`;
  if (value instanceof Duration) return `${value.nanos}ns`;
  if (value instanceof ListValue) return `[${[...value].map(scalarKey).join()}]`;
  if (value instanceof MapValue)
    return `{${[...value.entries()]
      .map((entry) => entry.map(scalarKey).join(':'))
      .toSorted()
      .join()}}`;
  return String(value);
}

/** Internal key of a map; equal numbers of any type share one. */
type MapKey = string | boolean | number | bigint | null;

/** An immutable map. */
export abstract class MapValue {
  abstract readonly size: number;

  /** True for JSON with a declared type, which has stricter comparison rules. */
  get isDeclared(): boolean {
    return false;
  }

  /** Returns the value of a key: undefined if it does not exist, an error if it cannot exist. */
  abstract find(key: Value): Value | undefined;

  abstract keys(): Iterable<Value>;

  *entries(): Generator<[Value, Value]> {
    for (const key of this.keys()) {
      const value = this.find(key);
      yield [key, value === undefined ? new EvaluationError(`no such key: ${key}`) : value];
    }
  }
}

/** A map of values in a JavaScript map. */
export class EntryMap extends MapValue {
  readonly #entries = new Map<MapKey, { readonly key: Value; readonly value: Value }>();

  get size(): number {
    return this.#entries.size;
  }

  /** Sets an entry; only while the map is under construction. */
  set(key: Value, value: Value): EvaluationError | undefined {
    const index = mapKey(key);
    if (index === undefined) return new EvaluationError('unsupported key type');
    this.#entries.set(index, { key, value });
    return undefined;
  }

  /** Removes an entry; only while the map is under construction. */
  remove(key: Value): void {
    const index = mapKey(key);
    if (index !== undefined) this.#entries.delete(index);
  }

  find(key: Value): Value | undefined {
    const index = mapKey(key);
    return index === undefined ? undefined : this.#entries.get(index)?.value;
  }

  *keys(): Generator<Value> {
    for (const { key } of this.#entries.values()) yield key;
  }

  override *entries(): Generator<[Value, Value]> {
    for (const { key, value } of this.#entries.values()) yield [key, value];
  }
}

/** A map under construction by the comprehension that owns it: inserting mutates it in place. */
export class GrowingMap extends EntryMap {}

function mapKey(key: Value): MapKey | undefined {
  switch (typeof key) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'bigint':
      return key;
    default:
      if (key instanceof Uint) return key.value <= Number.MAX_SAFE_INTEGER ? Number(key.value) : key.value;
      if (key instanceof Double && Number.isInteger(key.value)) {
        return Number.isSafeInteger(key.value) ? key.value : BigInt(key.value);
      }
      return undefined;
  }
}

type JsonRecord = Readonly<Record<string, unknown>>;

/** A JSON object as a map from strings to values of one type. */
export class JsonMap extends MapValue {
  readonly record: JsonRecord;
  readonly read: (json: unknown) => Value;
  readonly #isDeclared: boolean;
  #size: number | undefined;

  constructor(record: JsonRecord, read: (json: unknown) => Value, options: { isDeclared: boolean }) {
    super();
    this.record = record;
    this.read = read;
    this.#isDeclared = options.isDeclared;
  }

  override get isDeclared(): boolean {
    return this.#isDeclared;
  }

  get size(): number {
    return (this.#size ??= Object.keys(this.record).length);
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.record, key)) return undefined;
    return this.read(this.record[key]);
  }

  keys(): Iterable<Value> {
    return Object.keys(this.record);
  }
}

/** A JSON object with declared properties. A null property counts as absent. */
export class JsonObject extends MapValue {
  readonly record: JsonRecord;
  readonly type: Type;
  readonly read: (json: unknown, type: Type) => Value;

  constructor(record: JsonRecord, type: Type, read: (json: unknown, type: Type) => Value) {
    super();
    this.record = record;
    this.type = type;
    this.read = read;
  }

  override get isDeclared(): boolean {
    return true;
  }

  get size(): number {
    return Object.keys(this.record).length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return orNoSuchOverload(key);
    const property = unescapeIdentifier(key);
    return property === undefined ? undefined : this.property(property);
  }

  /** Returns the value of a property by its JSON name. */
  property(name: string): Value | undefined {
    if (!Object.hasOwn(this.record, name)) return undefined;
    const json = this.record[name];
    if (json === null || json === undefined) return undefined;
    const type = this.type.json?.property?.(name);
    return type && this.read(json, type);
  }

  *keys(): Generator<Value> {
    for (const name of Object.keys(this.record)) {
      if (this.type.json?.property?.(name)) yield escapeIdentifier(name) ?? name;
    }
  }
}
