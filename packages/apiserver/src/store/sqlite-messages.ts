/**
 * Messages between the main thread and the database thread. Versions and values are sent as one transferred buffer per
 * message: cloning them row by row costs more than writing them.
 */
export type ToThread =
  | { readonly type: 'append'; readonly records: ArrayBuffer }
  | { readonly type: 'call'; readonly call: number; readonly request: Request }
  /** Writes everything received before, closes the database and ends the thread. */
  | { readonly type: 'close' };

/** Requests with a response that has the same call number. */
export type Request =
  | { readonly type: 'read'; readonly revisions: Float64Array }
  | { readonly type: 'compact'; readonly revision: number }
  | { readonly type: 'discard'; readonly revisions: Float64Array };

export type FromThread =
  /** Batch of saved versions without values, in order of revision. */
  | { readonly type: 'saved'; readonly records: ArrayBuffer }
  /** Sent once, after all saved versions. */
  | { readonly type: 'opened'; readonly compactRevision: number; readonly sizeBytes: number }
  | { readonly type: 'durable'; readonly revision: number; readonly sizeBytes: number }
  /** The last append and all queued appends have been rolled back. */
  | { readonly type: 'failed'; readonly failure: Failure }
  | {
      readonly type: 'answer';
      readonly call: number;
      readonly values: ArrayBuffer | undefined;
      /** Database size; absent if it cannot have changed. */
      readonly sizeBytes: number | undefined;
    }
  | { readonly type: 'refusal'; readonly call: number; readonly failure: Failure };

export type Failure = {
  readonly message: string;
  /** Reports whether the failure is transient, such as a full disk. */
  readonly isTransient: boolean;
};

export type ThreadOptions = { readonly path: string; readonly maxSizeBytes: number | undefined };

/** Serialized version; only the main thread decodes keys to strings. */
export type Record<Key> = {
  readonly key: Key;
  readonly revision: number;
  readonly createRevision: number;
  readonly deleted: boolean;
  readonly expiresAtMs: number;
  readonly value: Uint8Array | undefined;
};

// revision, createRevision, expiresAtMs, then the lengths of key and value.
const headerBytes = 3 * 8 + 2 * 4;
const deletedLength = 0xffff_ffff;

export function encodeRecords(records: readonly Record<string | Uint8Array>[]): ArrayBuffer {
  const sizeBytes = records.reduce(
    (sum, { key, value }) => sum + headerBytes + Buffer.byteLength(key) + (value?.length ?? 0),
    0,
  );
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  let offset = 0;
  for (const { key, revision, createRevision, deleted, expiresAtMs, value } of records) {
    const keyStart = offset + headerBytes;
    const keyBytes = typeof key === 'string' ? bytes.write(key, keyStart) : key.length;
    if (typeof key !== 'string') bytes.set(key, keyStart);
    bytes.writeDoubleLE(revision, offset);
    bytes.writeDoubleLE(createRevision, offset + 8);
    bytes.writeDoubleLE(expiresAtMs, offset + 16);
    bytes.writeUInt32LE(keyBytes, offset + 24);
    bytes.writeUInt32LE(deleted ? deletedLength : (value?.length ?? 0), offset + 28);
    offset = keyStart + keyBytes;
    if (value) {
      bytes.set(value, offset);
      offset += value.length;
    }
  }
  return bytes.buffer;
}

export function* decodeRecords(records: ArrayBuffer): Generator<Record<Buffer>> {
  const bytes = Buffer.from(records);
  for (let offset = 0; offset < bytes.length; ) {
    const keyStart = offset + headerBytes;
    const valueStart = keyStart + bytes.readUInt32LE(offset + 24);
    const valueLength = bytes.readUInt32LE(offset + 28);
    const deleted = valueLength === deletedLength;
    const end = deleted ? valueStart : valueStart + valueLength;
    yield {
      key: bytes.subarray(keyStart, valueStart),
      revision: bytes.readDoubleLE(offset),
      createRevision: bytes.readDoubleLE(offset + 8),
      deleted,
      expiresAtMs: bytes.readDoubleLE(offset + 16),
      value: deleted ? undefined : bytes.subarray(valueStart, end),
    };
    offset = end;
  }
}

export function encodeValues(values: readonly Uint8Array[]): ArrayBuffer {
  const sizeBytes = values.reduce((sum, value) => sum + 4 + value.length, 0);
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  let offset = 0;
  for (const value of values) {
    bytes.writeUInt32LE(value.length, offset);
    bytes.set(value, offset + 4);
    offset += 4 + value.length;
  }
  return bytes.buffer;
}

export function decodeValues(values: ArrayBuffer): readonly Uint8Array[] {
  const bytes = Buffer.from(values);
  const decoded: Uint8Array[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const end = offset + 4 + bytes.readUInt32LE(offset);
    decoded.push(bytes.subarray(offset + 4, end));
    offset = end;
  }
  return decoded;
}
