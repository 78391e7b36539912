import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { Volume } from '@kruise/api/core/volume';

export type PodReference = readonly [
  resource: 'secrets' | 'configmaps' | 'persistentvolumeclaims' | 'serviceaccounts',
  name: string,
];

type Env = Pick<Container, 'env' | 'envFrom'>;

/** Yields the objects in its namespace that a Pod references. */
export function* podReferences({ spec, metadata }: Pod): Generator<PodReference> {
  for (const [resource, name] of everyReference(metadata?.name ?? '', spec)) if (name) yield [resource, name];
}

function* everyReference(
  podName: string,
  spec: Pod['spec'],
): Generator<readonly [PodReference[0], string | undefined]> {
  yield ['serviceaccounts', spec?.serviceAccountName];
  for (const { name } of spec?.imagePullSecrets ?? []) yield ['secrets', name];
  const containers: readonly Env[] = [
    ...(spec?.initContainers ?? []),
    ...(spec?.containers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ];
  for (const { env, envFrom } of containers) {
    for (const { secretRef, configMapRef } of envFrom ?? []) {
      yield ['secrets', secretRef?.name];
      yield ['configmaps', configMapRef?.name];
    }
    for (const { valueFrom } of env ?? []) {
      yield ['secrets', valueFrom?.secretKeyRef?.name];
      yield ['configmaps', valueFrom?.configMapKeyRef?.name];
    }
  }
  for (const volume of spec?.volumes ?? []) {
    yield* volumeReferences(volume);
    if (volume.ephemeral) yield ['persistentvolumeclaims', `${podName}-${volume.name}`];
  }
}

function* volumeReferences(volume: Volume): Generator<readonly [PodReference[0], string | undefined]> {
  yield ['persistentvolumeclaims', volume.persistentVolumeClaim?.claimName];
  yield ['configmaps', volume.configMap?.name];
  yield ['secrets', volume.secret?.secretName];
  yield ['secrets', volume.azureFile?.secretName];
  yield ['secrets', volume.csi?.nodePublishSecretRef?.name];
  for (const source of [volume.cephfs, volume.cinder, volume.flexVolume, volume.rbd, volume.scaleIO]) {
    yield ['secrets', source?.secretRef?.name];
  }
  for (const source of [volume.iscsi, volume.storageos]) yield ['secrets', source?.secretRef?.name];
  for (const { secret, configMap } of volume.projected?.sources ?? []) {
    yield ['secrets', secret?.name];
    yield ['configmaps', configMap?.name];
  }
}
