/**
 * Hashes of containers, which kubelets and kruise-daemon take of the running ones, and which are taken here of what a
 * Pod asks for: where they agree, the container runs what is asked for (inplace-update.md §10).
 */
import { type Container, container as containerSchema } from '@kruise/api/core/container';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { deepHashOfBytes } from '@kruise/machinery/hash';
import { codecOf } from '@kruise/schema/codec';
import { stringify } from '@kruise/values/go-json';
import { compareStrings } from '@kruise/values/go-syntax';
import { metadataReferences } from './env-from-metadata.ts';

const containers = codecOf(containerSchema);

/** The hash of a container since Kubernetes 1.31: only image and name matter. */
export function plainHash({ image = '', name }: Container): number {
  return hashOf(stringify({ image, name }));
}

/** The hash of a container before: all of it matters. */
export function plainHashBefore131(container: Container): number {
  return hashOf(containers.toJson(containers.canonical(container)));
}

/** The hash of the environment variables that come from labels and annotations. */
export function envFromMetadataHash(
  container: Container,
  metadata: Pick<ObjectMeta, 'labels' | 'annotations'>,
): number {
  const variables = metadataReferences(container)
    .map(({ name, from, key }) => ({ name, value: metadata[from]?.[key] ?? '' }))
    .sort((a, b) => compareStrings(a.name, b.name))
    .map(({ name, value }) => (value === '' ? { name } : { name, value }));
  return hashOf(variables.length === 0 ? 'null' : stringify(variables));
}

function hashOf(text: string): number {
  return deepHashOfBytes(new TextEncoder().encode(text));
}
