/** Values that are alike, held once. */
import { isObject, type JsonObject } from './json-value.ts';

/**
 * A JSON value, with those of its parts that a known value has in the same place being that value's own. What comes of
 * it says the same, in the same order; and where all is the same it is the known value itself.
 *
 * ```ts
 * const known = { labels: { app: 'web' }, replicas: 1 };
 * sharing({ labels: { app: 'web' }, replicas: 2 }, known).labels === known.labels;
 * ```
 */
export function sharing<T>(value: T, known: unknown): T {
  // What is put together of equal parts has the type of what it equals.
  return shared(value, known) as T;
}

/**
 * Has each value share what it can with the one before it under the same key. Of keys as many are remembered as are
 * said to come in turn.
 */
export function createSharing<T>(maxKeys: number): (key: string, value: T) => T {
  const last = new Map<string, T>();
  return (key, value) => {
    const known = last.get(key);
    if (known === undefined && last.size >= maxKeys) last.delete(last.keys().next().value!);
    const held = known === undefined ? value : sharing(value, known);
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
    // Nothing else that objects have without being given it is JSON.
    const before = name === '__proto__' ? undefined : known[name];
    const part = value[name];
    if (part === before) continue;
    const held = shared(part, before);
    if (held !== before) isSame = false;
    if (held !== part) (made ??= { ...value })[name] = held;
  }
  return isSame && hasSameOrder(value, known, count) ? known : (made ?? value);
}

/** Whoever writes objects out does so in the order they have. */
function hasSameOrder(value: JsonObject, known: JsonObject, count: number): boolean {
  const names = Object.keys(known);
  if (names.length !== count) return false;
  let index = 0;
  for (const name in value) if (names[index++] !== name) return false;
  return true;
}
