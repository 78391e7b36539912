import type { PersistentVolume } from '@kruise/api/core/persistentvolume';

export type SecretName = { readonly namespace: string; readonly name: string };

type Reference = { readonly name?: string; readonly namespace?: string };

/** Returns the Secrets that a node needs to mount a volume; Secrets that only controllers need are excluded. */
export function volumeSecrets({ spec }: PersistentVolume): readonly SecretName[] {
  if (!spec) return [];
  // In old objects a missing namespace means the namespace of the PVC.
  const claimNamespace = spec.claimRef?.namespace ?? '';
  const { azureFile, csi } = spec;
  const references: readonly (Reference | null | undefined)[] = [
    azureFile && { name: azureFile.secretName, namespace: azureFile.secretNamespace ?? '' },
    spec.cephfs?.secretRef,
    spec.cinder?.secretRef,
    spec.flexVolume?.secretRef,
    spec.rbd?.secretRef,
    spec.scaleIO?.secretRef,
    spec.iscsi?.secretRef,
    spec.storageos?.secretRef,
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
  ];
  return references.flatMap((reference) =>
    reference?.name ? [{ name: reference.name, namespace: reference.namespace || claimNamespace }] : [],
  );
}
