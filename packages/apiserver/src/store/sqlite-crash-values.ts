/** A value that tells whose it is, and differs from its neighbours to its last byte. */
export function valueFor(key: string, count: number): Buffer {
  const label = `${count} ${key} `;
  return Buffer.from(label.repeat(1 + ((count * 37) % 400)));
}

export function countIn(value: Uint8Array): number {
  return Number.parseInt(Buffer.from(value.subarray(0, 20)).toString(), 10);
}
