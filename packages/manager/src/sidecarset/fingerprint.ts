/**
 * Hashes of a SidecarSet, which are stored on it and on Pods, and the data of its revisions. Both outlive managers, and
 * older ones were written by OpenKruise, so they match its output bit for bit.
 */
import { createHash } from 'node:crypto';
import { type Volume, volume } from '@kruise/api/core/volume';
import { type SidecarContainer, type SidecarSetSpec, typedSidecarContainer } from '@kruise/api/kruise/sidecarset';
import { toGoOrder } from '@kruise/machinery/controller-revision';
import { safeEncode } from '@kruise/machinery/hash';
import type { JsonObject } from '@kruise/machinery/json-value';
import { type Codec, codecOf } from '@kruise/schema/codec';

type Sidecars = Pick<SidecarSetSpec, 'containers' | 'initContainers'>;

// A sidecar has the fields of a container and those that a SidecarSet adds.
const containers = codecOf(typedSidecarContainer) as Codec<SidecarContainer>;
const volumes = codecOf(volume) as Codec<Volume>;

/** Returns the hash of the sidecars. Fields that affect only newly created Pods are excluded. */
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

/** Returns the hash of the sidecars without their images. If it changes, they cannot be updated in place. */
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

/** Returns the data of a revision: a patch of the SidecarSet that replaces all that it injects into Pods. */
export function sidecarSetData(spec: SidecarSetSpec): JsonObject {
  // Go omits an empty list when it encodes the spec, and finds none when it decodes it.
  const listed = <T>(list: readonly T[] | undefined, write: (item: T) => unknown) =>
    list && list.length > 0 ? list.map(write) : null;
  const asIs = <T>(item: T) => item;
  return toGoOrder({
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
