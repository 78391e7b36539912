/** Memoizes a function of an object. Objects are immutable, and every reconcile reads them. */
export function memoizeByObject<O extends object, T>(compute: (object: O) => T): (object: O) => T {
  const known = new WeakMap<O, { readonly value: T }>();
  return (object) => {
    let found = known.get(object);
    if (!found) known.set(object, (found = { value: compute(object) }));
    return found.value;
  };
}
