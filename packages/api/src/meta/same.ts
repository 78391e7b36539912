/** Reports whether two canonical values are equal. Undefined members count as absent. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return (a ?? null) === (b ?? null);
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  const [first, second] = [a as Members, b as Members];
  for (const key in first) if (!isSame(first[key], second[key])) return false;
  for (const key in second) if (first[key] === undefined && second[key] !== undefined) return false;
  return true;
}

type Members = { readonly [key: string]: unknown };
