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
import { type MetadataReference, metadataReferences } from './env-from-metadata.ts';

const containers = codecOf(containerSchema);
const hashOfNothing = hashOf('null');

/** The hash of a container since Kubernetes 1.31: only image and name matter. */
export function plainHash({ image = '', name }: Container): number {
  return hashOf(stringify({ image, name }));
}

/** The hash of a container before: all of it matters. */
export function plainHashBefore131(container: Container): number {
  return hashOf(containers.toJson(containers.canonical(container)));
}

/** The hash of the environment variables that come from labels and annotations, as these say now. */
export function envFromMetadataHash(
  container: Container,
  metadata: Pick<ObjectMeta, 'labels' | 'annotations'>,
): number {
  return environmentHash(metadataReferences(container), ({ from, key }) => metadata[from]?.[key]);
}

/** The hash of those variables, with the values a running container has. */
export function runningEnvHash(container: Container, read: (variable: string) => string | undefined): number {
  return environmentHash(metadataReferences(container), ({ name }) => read(name));
}

function environmentHash(
  references: readonly MetadataReference[],
  read: (reference: MetadataReference) => string | undefined,
): number {
  if (references.length === 0) return hashOfNothing;
  const variables = references
    .toSorted((a, b) => compareStrings(a.name, b.name))
    .map((reference) => {
      const value = read(reference);
      return value ? { name: reference.name, value } : { name: reference.name };
    });
  return hashOf(stringify(variables));
}

function hashOf(text: string): number {
  return deepHashOfBytes(new TextEncoder().encode(text));
}
