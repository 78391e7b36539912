/**
 * What tells one state of a SidecarSet from another: the hashes on it and on Pods, and the data of its revisions. Both
 * outlive managers, and were written by OpenKruise's, so they agree with that bit for bit (sidecarset.md §7, §12.1).
 */
import { createHash } from 'node:crypto';
import { type Volume, volume } from '@kruise/api/core/volume';
import { type SidecarContainer, type SidecarSetSpec, typedSidecarContainer } from '@kruise/api/kruise/sidecarset';
import { inGoOrder } from '@kruise/machinery/controller-revision';
import { safeEncode } from '@kruise/machinery/hash';
import type { JsonObject } from '@kruise/machinery/json-value';
import { type Codec, codecOf } from '@kruise/schema/codec';

type Sidecars = Pick<SidecarSetSpec, 'containers' | 'initContainers'>;

// Its fields are those of a container and those a SidecarSet adds.
const containers = codecOf(typedSidecarContainer) as Codec<SidecarContainer>;
const volumes = codecOf(volume) as Codec<Volume>;

/** The hash of the sidecars. What only new Pods get does not count. */
export function sidecarSetHash({ containers: regular, initContainers }: Sidecars): string {
  const parts = [`"containers":${textOf(regular)}`];
  const hasNative = initContainers?.some(({ restartPolicy }) => restartPolicy === 'Always') ?? false;
  if (hasNative) parts.push(`"initContainers":${textOf(initContainers)}`);
  return safeEncode(
    createHash('sha256')
      .update(`{${parts.join(',')}}`)
      .digest('hex'),
  );
}

/** The hash of the sidecars whatever their images are: where it changes, they cannot be updated in place. */
export function sidecarSetHashWithoutImage({ containers: regular, initContainers }: Sidecars): string {
  const blank = (list: Sidecars['containers']) => list?.map((container) => ({ ...container, image: '' }));
  const [blanked, blankedInit] = [blank(regular), blank(initContainers)];
  return sidecarSetHash({
    ...(blanked ? { containers: blanked } : {}),
    ...(blankedInit ? { initContainers: blankedInit } : {}),
  });
}

function textOf(list: readonly SidecarContainer[] | undefined): string {
  if (!list) return 'null';
  return `[${list.map((container) => containers.toJson(containers.canonical(container))).join(',')}]`;
}

/** What brings the sidecars back: a patch of the SidecarSet that replaces all that Pods get from it. */
export function sidecarSetData(spec: SidecarSetSpec): JsonObject {
  // Go leaves an empty list out of what it reads again, and then finds none.
  const listed = <T>(list: readonly T[] | undefined, write: (item: T) => unknown) =>
    list && list.length > 0 ? list.map(write) : null;
  const asIs = <T>(item: T) => item;
  return inGoOrder({
    spec: {
      $patch: 'replace',
      containers: listed(spec.containers, containers.canonical),
      imagePullSecrets: listed(spec.imagePullSecrets, asIs),
      initContainers: listed(spec.initContainers, containers.canonical),
      patchPodMetadata: listed(spec.patchPodMetadata, asIs),
      volumes: listed(spec.volumes, volumes.canonical),
    },
  });
}
