/** Defaults of SidecarSets. */
import { defaultContainerButGrpc, defaultFieldRef } from '@kruise/api/core/container.default';
import { type Volume, volume } from '@kruise/api/core/volume';
import { defaultVolume } from '@kruise/api/core/volume.default';
import {
  type SidecarContainer,
  type SidecarSet,
  type SidecarSetSpec,
  typedSidecarContainer,
} from '@kruise/api/kruise/sidecarset';
import { sidecarSetHashAnnotation, sidecarSetHashWithoutImageAnnotation } from '@kruise/api/kruise/well-known';
import { type Codec, codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import { sidecarSetHash, sidecarSetHashWithoutImage } from '../fingerprint.ts';

// A sidecar has the fields of a container and those that a SidecarSet adds.
const containers = codecOf(typedSidecarContainer) as Codec<SidecarContainer>;
const volumes = codecOf(volume) as Codec<Volume>;

/**
 * Returns the SidecarSet with defaults and the hashes of its sidecars. An empty list of containers, as it was sent, is
 * hashed as an empty list, and then omitted.
 */
export function defaultSidecarSet(given: SidecarSet, sent = given): SidecarSet {
  const spec = withSpecDefaults(given.spec);
  const hashed = !spec.containers && sent.spec.containers ? { ...spec, containers: [] } : spec;
  const annotations = {
    ...given.metadata.annotations,
    [sidecarSetHashAnnotation]: sidecarSetHash(hashed),
    [sidecarSetHashWithoutImageAnnotation]: sidecarSetHashWithoutImage(hashed),
  };
  return { ...given, metadata: { ...given.metadata, annotations }, spec };
}

function withSpecDefaults(spec: SidecarSetSpec): SidecarSetSpec {
  const { initContainers, containers: regular, volumes: mounted, patchPodMetadata, injectionStrategy = {} } = spec;
  const { updateStrategy = {}, revisionHistoryLimit = 10 } = spec;
  const { revision } = injectionStrategy;
  return {
    ...spec,
    ...(initContainers ? { initContainers: initContainers.map(withContainerDefaults('AfterAppContainer')) } : {}),
    ...(regular ? { containers: regular.map(withContainerDefaults('BeforeAppContainer')) } : {}),
    ...(mounted ? { volumes: mounted.map(withVolumeDefaults) } : {}),
    updateStrategy: {
      ...updateStrategy,
      type: updateStrategy.type || 'RollingUpdate',
      partition: updateStrategy.partition ?? 0,
      maxUnavailable: updateStrategy.maxUnavailable ?? 1,
    },
    injectionStrategy: {
      ...injectionStrategy,
      ...(revision ? { revision: { ...revision, policy: revision.policy || 'Always' } } : {}),
    },
    revisionHistoryLimit,
    ...(patchPodMetadata
      ? { patchPodMetadata: patchPodMetadata.map((each) => ({ ...each, patchPolicy: each.patchPolicy || 'Retain' })) }
      : {}),
  };
}

function withContainerDefaults(place: NonNullable<SidecarContainer['podInjectPolicy']>) {
  return (container: SidecarContainer): SidecarContainer => {
    // OpenKruise sets no defaults of startup probes, and its defaults are part of the hash.
    const { startupProbe, ...rest } = containers.fromJson(container);
    const draft = rest as Draft<SidecarContainer>;
    draft.podInjectPolicy ||= place;
    draft.upgradeStrategy = {
      ...draft.upgradeStrategy,
      upgradeType: draft.upgradeStrategy?.upgradeType || 'ColdUpgrade',
    };
    draft.shareVolumePolicy = { type: draft.shareVolumePolicy?.type || 'disabled' };
    for (const { sourceContainerNameFrom } of draft.transferEnv ?? [])
      defaultFieldRef(sourceContainerNameFrom?.fieldRef);
    defaultContainerButGrpc(draft);
    const filled: SidecarContainer = { ...(draft as SidecarContainer), ...(startupProbe ? { startupProbe } : {}) };
    return containers.canonical(filled);
  };
}

function withVolumeDefaults(each: Volume): Volume {
  const draft = volumes.fromJson(each) as Draft<Volume>;
  defaultVolume(draft);
  return volumes.canonical(draft as Volume);
}
