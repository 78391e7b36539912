import type { PersistentVolume } from '@kruise/api/core/persistentvolume';

export type SecretName = { readonly namespace: string; readonly name: string };

type Reference = { readonly name?: string; readonly namespace?: string };

/** The Secrets a node needs to mount a volume. Those that only controllers need are not among them. */
export function volumeSecrets({ spec }: PersistentVolume): readonly SecretName[] {
  if (!spec) return [];
  // What old objects say of no namespace is in that of the claim.
  const home = spec.claimRef?.namespace ?? '';
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
    reference?.name ? [{ name: reference.name, namespace: reference.namespace || home }] : [],
  );
}
