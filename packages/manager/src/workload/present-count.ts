/** Returns a count as a field of a status; omitted if the count is zero, as Go omits empty fields. */
export function presentCount<K extends string>(name: K, count: number): { readonly [name in K]?: number } {
  // The computed field has this name.
  return count === 0 ? {} : ({ [name]: count } as { readonly [name in K]?: number });
}
