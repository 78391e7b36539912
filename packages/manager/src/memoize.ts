/** What a function says of an object, worked out once: objects never change, and are looked at in every pass. */
export function memoize<O extends object, T>(tell: (of: O) => T): (of: O) => T {
  const known = new WeakMap<O, { readonly told: T }>();
  return (of) => {
    let found = known.get(of);
    if (!found) known.set(of, (found = { told: tell(of) }));
    return found.told;
  };
}
