/**
 * The same type with everything in it open to change: what a function holds while it makes an object, before anyone
 * else can see it. Defaulting takes a draft; everybody else takes the object.
 */
export type Draft<T> = T extends object ? { -readonly [K in keyof T]: Draft<T[K]> } : T;

/** The object itself, frozen all through, so that whoever changes a shared object is found out. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
