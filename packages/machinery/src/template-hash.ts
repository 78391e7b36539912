/** The hash of a Pod template that names a Deployment's ReplicaSets and a DaemonSet's revisions (kcm.md §2.1). */
import { type PodTemplateSpec, podTemplateSpec } from '@kruise/api/core/pod-template';
import { goDump } from '@kruise/schema/codec/go-dump';
import { fnv1a, safeEncode } from './hash.ts';

/** The label that carries the hash, on a ReplicaSet, its Pods and in its selector. */
export const templateHashLabel = 'pod-template-hash';

const utf8 = new TextEncoder();

/** Templates are immutable, and a controller hashes the same one for every name that it tries. */
const dumpHashes = new WeakMap<PodTemplateSpec, number>();

/**
 * Returns the hash of a template in characters that are safe in a name: bit by bit that of Kubernetes v1.33, since
 * other programs compute it from the template and compare. Another collision count gives another hash of the same
 * template.
 */
export function templateHash(template: PodTemplateSpec = noTemplate, collisionCount?: number): string {
  let hash = dumpHashes.get(template);
  if (hash === undefined) {
    hash = fnv1a(utf8.encode(goDump(podTemplateSpec, template)));
    dumpHashes.set(template, hash);
  }
  return safeEncode(String(collisionCount === undefined ? hash : fnv1a(littleEndian(collisionCount), hash)));
}

const noTemplate: PodTemplateSpec = {};

function littleEndian(count: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, count, true);
  return bytes;
}
