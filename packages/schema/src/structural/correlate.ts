/**
 * Which part of the stored object a part of the new one used to be. Properties correspond by name, items of a
 * map-like list by their keys; items of other lists correspond to nothing, for an item has no identity there.
 */
import { quote } from '@kruise/values/go-syntax';
import { additionalOf, isObject, isSame, itemsOf, type JsonSchema, propertyOf } from './json-schema.ts';

/** A value together with what it was before the update. */
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

  /** The correlation of a property, if both objects have it and the schema knows it. */
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

  /** The correlation of an item, if the list is map-like and the old list has an item of the same keys. */
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
   * Whether the update left the value as it was. Items of a map-like list may have changed places: that alone is
   * no change. An object with fields its schema does not know counts as changed, as nothing is known of them.
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

/** Of items with the same keys the first counts. */
function firstByKey(items: readonly unknown[], keys: readonly string[]): ReadonlyMap<string, unknown> {
  const byKey = new Map<string, unknown>();
  for (const item of items) {
    const key = keyOf(item, keys);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
  }
  return byKey;
}

/** An item that lacks a key, or has one that is no scalar, cannot be found again. */
function keyOf(item: unknown, keys: readonly string[]): string | undefined {
  if (!isObject(item) || keys.length === 0) return undefined;
  const values = keys.map((key) => item[key]);
  if (values.some((value) => value === undefined || value === null || typeof value === 'object')) return undefined;
  return values.map((value) => `${typeof value === 'string' ? quote(value) : String(value)}`).join();
}
