const known = new WeakMap<object, number>();

/** Estimated overhead of a member or an item in bytes. */
const slotBytes = 16;

/** Estimates the memory of an immutable object. The estimate is memoized for all watchers. */
export function approximateBytes(object: object): number {
  let bytes = known.get(object);
  if (bytes === undefined) known.set(object, (bytes = bytesOf(object)));
  return bytes;
}

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return slotBytes + value.length;
  if (typeof value !== 'object' || value === null) return slotBytes;
  let bytes = slotBytes;
  if (Array.isArray(value)) for (const item of value) bytes += bytesOf(item);
  // Names are shared by all objects of a kind, except keys of maps; this is an estimate.
  else for (const name in value) bytes += name.length + bytesOf((value as { readonly [name: string]: unknown })[name]);
  return bytes;
}
