/** A JSON object: neither null nor an array. */
export type JsonObject = { readonly [name: string]: unknown };

/** Reports whether a value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns an own field of an object, or `undefined`. Names such as `constructor` come from users and are ordinary
 * fields.
 */
export function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets a field of an object under construction. Assigning `__proto__` would change its prototype. */
export function put(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}

/**
 * Reports whether two JSON values are equal. Shared parts are compared in constant time.
 *
 * ```ts
 * isSame({ a: [1] }, { a: [1] }); // true
 * ```
 */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && isSameList(a, b);
  let count = 0;
  for (const name in a) {
    if (!Object.hasOwn(b, name) || !isSame((a as JsonObject)[name], (b as JsonObject)[name])) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    if (!isSame(a[index], b[index])) return false;
  }
  return true;
}
