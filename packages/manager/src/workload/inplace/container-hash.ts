/**
 * Hashes of containers. The kubelet and kruise-daemon hash the running containers, and these functions hash the
 * containers of the Pod spec: where the hashes agree, the container runs what the spec asks for.
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

/** Returns the hash of a container since Kubernetes 1.31, which covers only image and name. */
export function plainHash({ image = '', name }: Container): number {
  return hashOf(stringify({ image, name }));
}

/** Returns the hash of a container before Kubernetes 1.31, which covers all fields. */
export function plainHashBefore131(container: Container): number {
  return hashOf(containers.toJson(containers.canonical(container)));
}

/** Returns the hash of the environment variables that refer to labels and annotations, with their current values. */
export function envFromMetadataHash(
  container: Container,
  metadata: Pick<ObjectMeta, 'labels' | 'annotations'>,
): number {
  return environmentHash(metadataReferences(container), ({ from, key }) => metadata[from]?.[key]);
}

/** Returns the hash of those variables with the values that a running container has. */
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
