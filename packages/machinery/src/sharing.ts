/** Values that are alike, held once. */
import { isObject, type JsonObject, own, put } from './json-value.ts';

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

function shared(value: unknown, known: unknown): unknown {
  if (value === known) return known;
  if (Array.isArray(value)) return Array.isArray(known) ? sharedList(value, known) : value;
  return isObject(value) && isObject(known) ? sharedObject(value, known) : value;
}

function sharedList(value: readonly unknown[], known: readonly unknown[]): readonly unknown[] {
  let isSame = value.length === known.length;
  let made: unknown[] | undefined;
  for (let index = 0; index < value.length; index++) {
    const part = shared(value[index], known[index]);
    if (part !== known[index]) isSame = false;
    if (part !== value[index]) (made ??= [...value])[index] = part;
  }
  return isSame ? known : (made ?? value);
}

function sharedObject(value: JsonObject, known: JsonObject): JsonObject {
  const knownNames = Object.keys(known);
  let count = 0;
  let isSame = true;
  let made: Record<string, unknown> | undefined;
  for (const name in value) {
    // Whoever writes objects out does so in the order they have.
    if (knownNames[count++] !== name) isSame = false;
    const before = own(known, name);
    const part = shared(value[name], before);
    if (part !== before) isSame = false;
    if (part !== value[name]) put((made ??= { ...value }), name, part);
  }
  return isSame && count === knownNames.length ? known : (made ?? value);
}
