/** What the daemon of a node tells on a Pod of the containers that run (inplace-update.md §2). */
import type { Pod } from '@kruise/api/core/pod';
import { runtimeContainersMetaAnnotation } from '@kruise/api/kruise/well-known';

export type RuntimeContainerMeta = {
  readonly name: string;
  /** With the name of its runtime, as in the status of the Pod. */
  readonly containerID: string;
  readonly restartCount?: number;
  readonly hashes: {
    /** What the kubelet made it from. */
    readonly plainHash?: number;
    /** The values it was given of labels and annotations. */
    readonly extractedEnvFromMetadataHash?: number;
  };
};

/** What is told; undefined where nothing is. */
export function readRuntimeMeta({ metadata }: Pod): readonly RuntimeContainerMeta[] | 'invalid' | undefined {
  const text = metadata.annotations?.[runtimeContainersMetaAnnotation];
  if (text === undefined) return undefined;
  try {
    // Kruise's daemon writes it. What has another form fails here, or agrees with nothing.
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

/** The text it is told in, as OpenKruise's daemon writes it. */
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
