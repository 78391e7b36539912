import { type ManagedFieldsEntry, objectMeta } from '@kruise/api/meta/object-meta';
import { codecOf, WrittenList } from '@kruise/schema/codec';
import { envelopeAround } from '@kruise/schema/protobuf-envelope';
import type { ManagedFields } from '../managed-fields.ts';
import type { KubeObject } from '../object.ts';
import type { Found } from '../resource.ts';

/**
 * Memoized protobuf encoding of managedFields entries. Encoding them takes longer than the rest of an object, and
 * objects created alike in the same second share entries.
 */
const written = new WeakMap<ManagedFieldsEntry, Uint8Array>();

function writtenManagedFields(entries: ManagedFields): WrittenList {
  return new WrittenList(Buffer.concat(entries.map(writtenEntry)));
}

function writtenEntry(entry: ManagedFieldsEntry): Uint8Array {
  let bytes = written.get(entry);
  if (!bytes) {
    bytes = codecOf(objectMeta).listToProtobuf('managedFields', [entry]);
    written.set(entry, bytes);
  }
  return bytes;
}

/** Returns the complete object for the protobuf encoder. */
export function writable({ object, cached }: Found): KubeObject {
  const { managedFields } = cached;
  if (managedFields === undefined || object.metadata.managedFields !== undefined) return object;
  // The encoder accepts an encoded list wherever it accepts a list; the object is not used elsewhere.
  const list = writtenManagedFields(managedFields) as unknown as NonNullable<KubeObject['metadata']['managedFields']>;
  return { ...object, metadata: { ...object.metadata, managedFields: list } };
}

/**
 * Yields the chunks of a protobuf message in its envelope. The envelope's header depends on the length of all chunks.
 */
export function* enveloped(apiVersion: string, kind: string, chunks: Uint8Array[]): Generator<Uint8Array> {
  let size = 0;
  for (const chunk of chunks) size += chunk.length;
  const { before, after } = envelopeAround(apiVersion, kind, size);
  yield before;
  // Chunks that have been sent are released before the rest is sent.
  for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) yield chunk;
  yield after;
}
