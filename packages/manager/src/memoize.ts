/** Memoizes a function of an object. Objects are immutable, and every reconcile reads them. */
export function memoize<O extends object, T>(tell: (of: O) => T): (of: O) => T {
  const known = new WeakMap<O, { readonly told: T }>();
  return (of) => {
    let found = known.get(of);
    if (!found) known.set(of, (found = { told: tell(of) }));
    return found.told;
  };
}
