/** Creates a value that identifies its key and count, and differs from other values in every byte. */
export function valueFor(key: string, count: number): Buffer {
  const label = `${count} ${key} `;
  return Buffer.from(label.repeat(1 + ((count * 37) % 400)));
}

export function countIn(value: Uint8Array): number {
  return Number.parseInt(Buffer.from(value.subarray(0, 20)).toString(), 10);
}
