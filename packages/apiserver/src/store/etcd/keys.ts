import type { Entry } from '../store.ts';
import type { KeyValue } from './generated/etcd_pb.ts';

/**
 * End marker of etcd keys. The byte 0xff occurs in no UTF-8 text, so a prefix followed by it sorts after every key with
 * the prefix, and before every other key.
 */
const afterAll = 0xff;

/** Returns the keys with a prefix as an etcd range, starting at `start` if that is greater. */
export function rangeOf(prefix: string, start = prefix): { readonly key: Buffer; readonly rangeEnd: Buffer } {
  const first = Buffer.from(prefix);
  const from = Buffer.from(start);
  return { key: firstOf(Buffer.compare(from, first) < 0 ? first : from), rangeEnd: Buffer.of(...first, afterAll) };
}

/** Returns the range of a prefix including its marker, the one key that callers cannot name. */
export function rangeWithMarker(prefix: string): { readonly key: Buffer; readonly rangeEnd: Buffer } {
  return { key: firstOf(Buffer.from(prefix)), rangeEnd: Buffer.of(...Buffer.from(prefix), afterAll, 0) };
}

export function markerOf(prefix: string): Buffer {
  return Buffer.of(...Buffer.from(prefix), afterAll);
}

export function isMarker(key: Uint8Array): boolean {
  return key.at(-1) === afterAll;
}

/** etcd has no empty key; NUL is the first possible key. */
function firstOf(key: Buffer): Buffer {
  return key.length === 0 ? Buffer.of(0) : key;
}

export function keyOf({ key }: KeyValue): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString();
}

export function entryOf(keyValue: KeyValue): Entry {
  return {
    key: keyOf(keyValue),
    value: keyValue.value,
    createRevision: Number(keyValue.createRevision),
    modRevision: Number(keyValue.modRevision),
  };
}
