/**
 * Correlates parts of the new object with parts of the stored one. Properties correspond by name, items of a map-like
 * list by their keys. Items of other lists have no identity and correspond to nothing.
 */
import { quote } from '@kruise/values/go-syntax';
import { additionalOf, isObject, isSame, itemsOf, type JsonSchema, propertyOf } from './json-schema.ts';

/** A value with its previous value before the update. */
export class Correlation {
  readonly value: unknown;
  readonly old: unknown;
  readonly #schema: JsonSchema;
  #isUnchanged: boolean | undefined;
  #oldItems: ReadonlyMap<string, unknown> | undefined;
  #children: Map<string | number, Correlation | undefined> | undefined;

  constructor(value: unknown, old: unknown, schema: JsonSchema) {
    this.value = value;
    this.old = old;
    this.#schema = schema;
  }

  /** Returns the correlation of a property, if both objects have it and the schema declares it. */
  property(name: string): Correlation | undefined {
    return this.#child(name, () => this.#property(name));
  }

  #property(name: string): Correlation | undefined {
    const { value, old } = this;
    if (!isObject(value) || !isObject(old) || !Object.hasOwn(value, name) || !Object.hasOwn(old, name))
      return undefined;
    const schema = propertyOf(this.#schema, name) ?? additionalOf(this.#schema);
    return schema && new Correlation(value[name], old[name], schema);
  }

  /** Returns the correlation of an item, if the list is map-like and the old list has an item with the same keys. */
  item(index: number): Correlation | undefined {
    return this.#child(index, () => this.#item(index));
  }

  #item(index: number): Correlation | undefined {
    const { value, old } = this;
    const schema = itemsOf(this.#schema);
    if (schema === undefined || !Array.isArray(value) || !Array.isArray(old)) return undefined;
    if (this.#schema['x-kubernetes-list-type'] !== 'map') return undefined;
    const keys = this.#schema['x-kubernetes-list-map-keys'] ?? [];
    this.#oldItems ??= firstByKey(old, keys);
    const key = keyOf(value[index], keys);
    const oldItem = key === undefined ? undefined : this.#oldItems.get(key);
    return oldItem === undefined ? undefined : new Correlation(value[index], oldItem, schema);
  }

  #child(step: string | number, find: () => Correlation | undefined): Correlation | undefined {
    this.#children ??= new Map();
    if (!this.#children.has(step)) this.#children.set(step, find());
    return this.#children.get(step);
  }

  /**
   * True if the update left the value unchanged. A changed order of items in a map-like list is not a change. An object
   * with unknown fields counts as changed.
   */
  get isUnchanged(): boolean {
    this.#isUnchanged ??= this.#compare();
    return this.#isUnchanged;
  }

  #compare(): boolean {
    const { value, old } = this;
    if (Array.isArray(value) && Array.isArray(old) && this.#schema['x-kubernetes-list-type'] === 'map') {
      return value.length === old.length && value.every((_, index) => this.item(index)?.isUnchanged ?? false);
    }
    if (!isObject(value) || !isObject(old)) return isSame(value, old);
    const names = Object.keys(value);
    if (names.length !== Object.keys(old).length) return false;
    return names.every((name) => this.property(name)?.isUnchanged ?? false);
  }
}

/** The first of several items with the same keys counts. */
function firstByKey(items: readonly unknown[], keys: readonly string[]): ReadonlyMap<string, unknown> {
  const byKey = new Map<string, unknown>();
  for (const item of items) {
    const key = keyOf(item, keys);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
  }
  return byKey;
}

/** Returns the key of an item; undefined if a key is missing or not a scalar. */
function keyOf(item: unknown, keys: readonly string[]): string | undefined {
  if (!isObject(item) || keys.length === 0) return undefined;
  const values = keys.map((key) => item[key]);
  if (values.some((value) => value === undefined || value === null || typeof value === 'object')) return undefined;
  return values.map((value) => `${typeof value === 'string' ? quote(value) : String(value)}`).join();
}
