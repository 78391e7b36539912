const known = new WeakMap<object, number>();

/** What a member or an item takes besides its text. */
const slotBytes = 16;

/** Estimates the memory of an object that is never changed. Each is measured once, however many watchers ask. */
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
  // Names are shared by all objects of a kind, except those of maps; it is an estimate.
  else for (const name in value) bytes += name.length + bytesOf((value as { readonly [name: string]: unknown })[name]);
  return bytes;
}
