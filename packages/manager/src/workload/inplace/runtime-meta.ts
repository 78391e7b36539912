/** Metadata of running containers, which kruise-daemon reports in an annotation of the Pod. */
import type { Pod } from '@kruise/api/core/pod';
import { runtimeContainersMetaAnnotation } from '@kruise/api/kruise/well-known';

export type RuntimeContainerMeta = {
  readonly name: string;
  /** The container ID with the name of its runtime, as in the status of the Pod. */
  readonly containerID: string;
  readonly restartCount?: number;
  readonly hashes: {
    /** The hash of the spec from which the kubelet created the container. */
    readonly plainHash?: number;
    /** The hash of the label and annotation values in its environment. */
    readonly extractedEnvFromMetadataHash?: number;
  };
};

/** Returns the reported metadata; undefined if there is no report. */
export function readRuntimeMeta({ metadata }: Pod): readonly RuntimeContainerMeta[] | 'invalid' | undefined {
  const text = metadata.annotations?.[runtimeContainersMetaAnnotation];
  if (text === undefined) return undefined;
  try {
    // Kruise's daemon writes the annotation. A text of another form throws here or matches nothing.
    const { containers = [] } = JSON.parse(text) as { readonly containers?: readonly Partial<RuntimeContainerMeta>[] };
    return containers.map(({ name = '', containerID = '', hashes = {}, ...rest }) => ({
      ...rest,
      name,
      containerID,
      hashes,
    }));
  } catch {
    return 'invalid';
  }
}

/** Formats the metadata as OpenKruise's daemon writes it. */
export function formatRuntimeMeta(containers: readonly RuntimeContainerMeta[]): string {
  return JSON.stringify({
    containers: containers.map(({ name, containerID, restartCount = 0, hashes }) => ({
      name,
      containerID,
      restartCount,
      hashes: {
        plainHash: hashes.plainHash ?? 0,
        ...(hashes.extractedEnvFromMetadataHash
          ? { extractedEnvFromMetadataHash: hashes.extractedEnvFromMetadataHash }
          : {}),
      },
    })),
  });
}
