import { type ManagedFieldsEntry, objectMeta } from '@kruise/api/meta/object-meta';
import { codecOf, WrittenList } from '@kruise/schema/codec';
import { envelopeAround } from '@kruise/schema/protobuf-envelope';
import type { ManagedFields } from '../managed-fields.ts';
import type { KubeObject } from '../object.ts';
import type { Found } from '../resource.ts';

/**
 * Entries of managed fields as protobuf. To write them takes longer than all the rest of an object, and objects that
 * were made alike in the same second have the same.
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

/** An object whole, for the protobuf writer alone. */
export function writable({ object, cached }: Found): KubeObject {
  const { managedFields } = cached;
  if (managedFields === undefined || object.metadata.managedFields !== undefined) return object;
  // The writer takes a written list wherever it takes a list; nobody else is shown this object.
  const list = writtenManagedFields(managedFields) as unknown as NonNullable<KubeObject['metadata']['managedFields']>;
  return { ...object, metadata: { ...object.metadata, managedFields: list } };
}

/** The pieces of a message in its envelope, the first of which cannot be made before all others have been. */
export function* enveloped(apiVersion: string, kind: string, pieces: Uint8Array[]): Generator<Uint8Array> {
  let size = 0;
  for (const piece of pieces) size += piece.length;
  const { before, after } = envelopeAround(apiVersion, kind, size);
  yield before;
  // What has been sent need not be kept until the rest has.
  for (let piece = pieces.shift(); piece; piece = pieces.shift()) yield piece;
  yield after;
}
