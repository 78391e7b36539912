/** The hash of a Pod template that tells the ReplicaSets of a Deployment apart (kcm.md §2.1). */
import { stringifySorted } from '@kruise/values/go-json';
import { fnv1a, safeEncode } from './hash.ts';

/** The label that carries the hash, on a ReplicaSet, its Pods and in its selector. */
export const templateHashLabel = 'pod-template-hash';

const utf8 = new TextEncoder();

/**
 * The hash of a template, in characters that are safe in a name. Templates that differ in the order of their fields
 * only have the same; another collision count gives another for the same template.
 */
export function templateHash(template: unknown, collisionCount?: number): string {
  const hash = fnv1a(utf8.encode(stringifySorted(template)));
  return safeEncode(String(collisionCount === undefined ? hash : fnv1a(littleEndian(collisionCount), hash)));
}

function littleEndian(count: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, count, true);
  return bytes;
}
