import type { Entry } from '../store.ts';
import type { KeyValue } from './generated/etcd_pb.ts';

/**
 * Keys as etcd has them. The byte 0xff occurs in no UTF-8 text, so a prefix followed by it comes after every key with
 * that prefix, and before every other.
 */
const afterAll = 0xff;

/** The keys with a prefix, as a range of etcd's, from `start` on if that is further. */
export function rangeOf(prefix: string, start = prefix): { readonly key: Buffer; readonly rangeEnd: Buffer } {
  const first = Buffer.from(prefix);
  const from = Buffer.from(start);
  return { key: firstOf(Buffer.compare(from, first) < 0 ? first : from), rangeEnd: Buffer.of(...first, afterAll) };
}

/** As above, with the prefix's marker as well: the one key in it that no caller can name. */
export function rangeWithMarker(prefix: string): { readonly key: Buffer; readonly rangeEnd: Buffer } {
  return { key: firstOf(Buffer.from(prefix)), rangeEnd: Buffer.of(...Buffer.from(prefix), afterAll, 0) };
}

export function markerOf(prefix: string): Buffer {
  return Buffer.of(...Buffer.from(prefix), afterAll);
}

export function isMarker(key: Uint8Array): boolean {
  return key.at(-1) === afterAll;
}

/** etcd has no empty key; NUL is the first there can be. */
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
