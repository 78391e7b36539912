/** Hash of a Pod template, which names the ReplicaSets of a Deployment and the revisions of a DaemonSet. */
import { type PodTemplateSpec, podTemplateSpec } from '@kruise/api/core/pod-template';
import { goDump } from '@kruise/schema/codec/go-dump';
import { memoizeByObject } from '@kruise/values/memoize';
import { fnv1a, safeEncode } from './hash.ts';

/** Label with the hash on a ReplicaSet, on its Pods and in its selector. */
export const templateHashLabel = 'pod-template-hash';

const utf8 = new TextEncoder();

/** A controller hashes the same template for every name that it tries. */
const dumpHash = memoizeByObject((template: PodTemplateSpec) => fnv1a(utf8.encode(goDump(podTemplateSpec, template))));

/**
 * Returns the hash of a template in characters that are safe in a name. It is identical bit by bit to that of
 * Kubernetes v1.33, because other programs compute and compare it. A different collision count gives a different hash
 * of the same template.
 *
 * ```ts
 * const labels = { 'pod-template-hash': templateHash(template) };
 * ```
 */
export function templateHash(template: PodTemplateSpec = noTemplate, collisionCount?: number): string {
  const hash = dumpHash(template);
  return safeEncode(String(collisionCount === undefined ? hash : fnv1a(littleEndian(collisionCount), hash)));
}

const noTemplate: PodTemplateSpec = {};

function littleEndian(count: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, count, true);
  return bytes;
}
