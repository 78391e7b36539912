/** Objects that local storage needs in a cluster: a default storage class and RBAC. */
import { type ClusterRole, clusterRole } from '@kruise/api/rbac/clusterrole';
import { type ClusterRoleBinding, clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { type StorageClass, storageClass } from '@kruise/api/storage/storageclass';
import type { Client } from '@kruise/client/client';
import { createIfMissing } from '@kruise/client/create-if-missing';
import { defaultStorageClassAnnotations } from '@kruise/machinery/default-class';
import { provisioner } from './names.ts';

/** ServiceAccount in `kube-system` that local storage runs as. */
export const localStorageAccount = 'local-storage';

const standardClass: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { [defaultStorageClassAnnotations[0]]: 'true' } },
  provisioner,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
  allowVolumeExpansion: true,
};

const roleName = 'kruise:local-storage';

const role: ClusterRole = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: roleName },
  rules: [
    {
      apiGroups: [''],
      resources: ['persistentvolumes'],
      verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
    },
    { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'update', 'watch'] },
    { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['update'] },
    { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
  ],
};

const binding: ClusterRoleBinding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: roleName },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: roleName },
  subjects: [{ kind: 'ServiceAccount', namespace: 'kube-system', name: localStorageAccount }],
};

/** Creates the missing objects; existing ones are not changed. */
export async function installLocalStorage(client: Client): Promise<void> {
  await Promise.all([
    createIfMissing(client, storageClass, standardClass),
    createIfMissing(client, clusterRole, role),
    createIfMissing(client, clusterRoleBinding, binding),
  ]);
}
