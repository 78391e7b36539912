/** Objects that let other machines join a cluster: its description, and the permissions of tokens and nodes. */
import { configMap } from '@kruise/api/core/configmap';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { role } from '@kruise/api/rbac/role';
import { roleBinding } from '@kruise/api/rbac/rolebinding';
import type { Client } from '@kruise/client/client';
import { formatYaml } from '@kruise/schema/yaml-write';
import { joinGroup } from './bootstrap-token.ts';

const rbac = 'rbac.authorization.k8s.io';
const options = { fieldManager: 'kruise-join', force: true };
const group = (name: string) => ({ apiGroup: rbac, kind: 'Group', name });

/** ClusterRoles by group: of machines that join, and of nodes. */
const grants: readonly { readonly name: string; readonly role: string; readonly to: string }[] = [
  { name: 'kruise:kubelet-bootstrap', role: 'system:node-bootstrapper', to: joinGroup },
  {
    name: 'kruise:node-autoapprove-bootstrap',
    role: 'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    to: joinGroup,
  },
  {
    name: 'kruise:node-autoapprove-certificate-rotation',
    role: 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    to: 'system:nodes',
  },
  { name: 'kruise:node-proxier', role: 'system:node-proxier', to: 'system:nodes' },
  { name: 'kruise:node-network', role: 'kruise:node-network', to: 'system:nodes' },
  // The kubelet API asks the API server who a caller is and what it may do.
  { name: 'kruise:node-access-reviews', role: 'system:auth-delegator', to: 'system:nodes' },
  // A joined node runs kruise-daemon with its own identity.
  { name: 'kruise:node-daemon', role: 'kruise-daemon-role', to: 'system:nodes' },
];

/** The Pod network and NetworkPolicy of a node depend on all Pods, Namespaces and policies. */
const networkRole = {
  metadata: { name: 'kruise:node-network' },
  rules: [
    { apiGroups: [''], resources: ['namespaces', 'nodes', 'pods'], verbs: ['get', 'list', 'watch'] },
    {
      apiGroups: ['networking.k8s.io'],
      resources: ['networkpolicies', 'servicecidrs'],
      verbs: ['get', 'list', 'watch'],
    },
  ],
};

export type ClusterDescription = {
  readonly server: string;
  readonly authorities: string;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly clusterRanges: readonly string[];
};

/** Name of the ConfigMap in kube-system with the configuration of all kubelets. */
export const kubeletConfigName = 'kubelet-config';

/** Publishes the description of a cluster, and grants the permissions. Idempotent. */
export async function permitJoining(client: Client, cluster: ClusterDescription): Promise<void> {
  const info = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: '',
        cluster: {
          server: cluster.server,
          'certificate-authority-data': Buffer.from(cluster.authorities).toString('base64'),
        },
      },
    ],
    contexts: [],
    users: [],
    'current-context': '',
  };
  await client.apply(
    configMap,
    { metadata: { name: 'cluster-info', namespace: 'kube-public' }, data: { kubeconfig: formatYaml(info) } },
    options,
  );
  await client.apply(
    configMap,
    {
      metadata: { name: kubeletConfigName, namespace: 'kube-system' },
      data: {
        kubelet: formatYaml({
          apiVersion: 'kubelet.config.k8s.io/v1beta1',
          kind: 'KubeletConfiguration',
          clusterDNS: cluster.clusterDns,
          clusterDomain: cluster.clusterDomain,
        }),
        clusterCIDR: cluster.clusterRanges.join(),
      },
    },
    options,
  );
  await permitReading(client, {
    name: 'kruise:cluster-info',
    namespace: 'kube-public',
    resourceName: 'cluster-info',
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'system:anonymous' }],
  });
  await permitReading(client, {
    name: 'kruise:kubelet-config',
    namespace: 'kube-system',
    resourceName: kubeletConfigName,
    subjects: [group('system:nodes'), group(joinGroup)],
  });
  await client.apply(clusterRole, networkRole, options);
  for (const { name, role: roleName, to } of grants) {
    await client.apply(
      clusterRoleBinding,
      {
        metadata: { name },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: roleName },
        subjects: [group(to)],
      },
      options,
    );
  }
}

type ReadPermission = {
  readonly name: string;
  readonly namespace: string;
  readonly resourceName: string;
  readonly subjects: readonly { readonly apiGroup: string; readonly kind: string; readonly name: string }[];
};

async function permitReading(client: Client, permission: ReadPermission): Promise<void> {
  const { name, namespace, resourceName, subjects } = permission;
  const metadata = { name, namespace };
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [resourceName], verbs: ['get'] }];
  await client.apply(role, { metadata, rules }, options);
  await client.apply(roleBinding, { metadata, roleRef: { apiGroup: rbac, kind: 'Role', name }, subjects }, options);
}
