/** Structural sharing of equal JSON values, to save memory. */
import { isObject, type JsonObject } from './json-value.ts';

/**
 * Returns a JSON value in which all parts that are equal to the same part of a known value are replaced by that part.
 * The result is equal to the value, including the order of fields, and is the known value itself if everything is
 * equal.
 *
 * ```ts
 * const known = { labels: { app: 'web' }, replicas: 1 };
 * shareStructure({ labels: { app: 'web' }, replicas: 2 }, known).labels === known.labels;
 * ```
 */
export function shareStructure<T>(value: T, known: unknown): T {
  // A value of equal parts has the type of the value.
  return shared(value, known) as T;
}

/**
 * Returns a function that shares each value with the previous one of the same key; the last values of `maxKeys` keys
 * are cached.
 */
export function createStructureSharing<T>(maxKeys: number): (key: string, value: T) => T {
  const last = new Map<string, T>();
  return (key, value) => {
    const known = last.get(key);
    if (known === undefined && last.size >= maxKeys) last.delete(last.keys().next().value!);
    const held = known === undefined ? value : shareStructure(value, known);
    last.set(key, held);
    return held;
  };
}

function shared(value: unknown, known: unknown): unknown {
  if (value === known) return known;
  if (Array.isArray(value)) return Array.isArray(known) ? sharedList(value, known) : value;
  return isObject(value) && isObject(known) ? sharedObject(value, known) : value;
}

function sharedList(value: readonly unknown[], known: readonly unknown[]): readonly unknown[] {
  let isSame = value.length === known.length;
  let made: unknown[] | undefined;
  for (let index = 0; index < value.length; index++) {
    const [before, part] = [known[index], value[index]];
    if (part === before) continue;
    const held = shared(part, before);
    if (held !== before) isSame = false;
    if (held !== part) (made ??= [...value])[index] = held;
  }
  return isSame ? known : (made ?? value);
}

function sharedObject(value: JsonObject, known: JsonObject): JsonObject {
  let count = 0;
  let isSame = true;
  let made: Record<string, unknown> | undefined;
  for (const name in value) {
    count++;
    // All other inherited properties of objects are not JSON values.
    const before = name === '__proto__' ? undefined : known[name];
    const part = value[name];
    if (part === before) continue;
    const held = shared(part, before);
    if (held !== before) isSame = false;
    if (held !== part) (made ??= { ...value })[name] = held;
  }
  return isSame && hasSameOrder(value, known, count) ? known : (made ?? value);
}

/** Objects are encoded in the order of their fields, so the order must be equal. */
function hasSameOrder(value: JsonObject, known: JsonObject, count: number): boolean {
  const names = Object.keys(known);
  if (names.length !== count) return false;
  let index = 0;
  for (const name in value) if (names[index++] !== name) return false;
  return true;
}
