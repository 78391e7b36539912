/**
 * Deeply mutable version of a type, for an object that is under construction and not shared yet. Defaulting takes a
 * draft; everything else takes the readonly object.
 */
export type Draft<T> = T extends object ? { -readonly [K in keyof T]: Draft<T[K]> } : T;

/**
 * Freezes an object deeply and returns it, so that a mutation of a shared object throws.
 *
 * ```ts
 * const frozen = deepFreeze({ metadata: { name: 'web-0' } });
 * ```
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
