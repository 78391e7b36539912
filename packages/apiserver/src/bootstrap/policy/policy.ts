import type { AggregationRule } from '@kruise/api/rbac/clusterrole';
import type { PolicyRule } from '@kruise/api/rbac/rule';
import type { Subject } from '@kruise/api/rbac/subject';
import type { KubeObject } from '../../object.ts';
import { clusterRoleRules } from './cluster-roles.ts';
import { controllerRules } from './controller-roles.ts';
import { namespaceRoleRules } from './namespace-roles.ts';

/** Annotation: whether a start may add missing rules and subjects to a default role or binding. */
export const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;

/** Aggregation labels: the user-facing role that a role is aggregated into. */
const partOf: { readonly [role: string]: string } = {
  edit: 'admin',
  view: 'edit',
  'system:aggregate-to-admin': 'admin',
  'system:aggregate-to-edit': 'edit',
  'system:aggregate-to-view': 'view',
};

const aggregateTo = (role: string) => ({ [`${apiGroup}/aggregate-to-${role}`]: 'true' });

const user = (name: string): Subject => ({ kind: 'User', apiGroup, name });
const group = (name: string): Subject => ({ kind: 'Group', apiGroup, name });
const account = (name: string): Subject => ({ kind: 'ServiceAccount', name, namespace: 'kube-system' });

/** Subjects of the default ClusterRoleBindings. */
const clusterSubjects: { readonly [role: string]: readonly Subject[] } = {
  'cluster-admin': [group('system:masters')],
  'system:monitoring': [group('system:monitoring')],
  'system:discovery': [group('system:authenticated')],
  'system:basic-user': [group('system:authenticated')],
  'system:public-info-viewer': [group('system:authenticated'), group('system:unauthenticated')],
  'system:node-proxier': [user('system:kube-proxy')],
  'system:kube-controller-manager': [user('system:kube-controller-manager')],
  'system:kube-dns': [account('kube-dns')],
  'system:kube-scheduler': [user('system:kube-scheduler')],
  'system:volume-scheduler': [user('system:kube-scheduler')],
  'system:service-account-issuer-discovery': [group('system:serviceaccounts')],
  // Nodes have their own authorizer; the empty binding reserves the name.
  'system:node': [],
};

/** Subjects of the default RoleBindings, with the name of the binding if it differs from the role. */
const namespaceSubjects: {
  readonly [role: string]: { readonly name?: string; readonly subjects: readonly Subject[] };
} = {
  'kube-system/extension-apiserver-authentication-reader': {
    name: 'system::extension-apiserver-authentication-reader',
    subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler')],
  },
  'kube-system/system::leader-locking-kube-controller-manager': {
    subjects: [
      user('system:kube-controller-manager'),
      account('kube-controller-manager'),
      account('leader-election-controller'),
    ],
  },
  'kube-system/system::leader-locking-kube-scheduler': {
    subjects: [user('system:kube-scheduler'), account('kube-scheduler')],
  },
  'kube-system/system:controller:bootstrap-signer': { subjects: [account('bootstrap-signer')] },
  'kube-system/system:controller:cloud-provider': { subjects: [account('cloud-provider')] },
  'kube-system/system:controller:token-cleaner': { subjects: [account('token-cleaner')] },
  'kube-public/system:controller:bootstrap-signer': { subjects: [account('bootstrap-signer')] },
};

function metadata(name: string, more: { readonly namespace?: string; readonly labels?: object } = {}) {
  return {
    ...more,
    name,
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...more.labels },
    annotations: { [autoUpdate]: 'true' },
  };
}

function clusterRole(name: string, rules: readonly PolicyRule[] | null, aggregationRule?: AggregationRule): KubeObject {
  const part = partOf[name];
  return {
    apiVersion,
    kind: 'ClusterRole',
    metadata: metadata(name, part === undefined ? {} : { labels: aggregateTo(part) }),
    rules,
    ...(aggregationRule ? { aggregationRule } : {}),
  };
}

/** Creates an aggregated ClusterRole. A controller collects its rules by label. */
const aggregated = (name: string) =>
  clusterRole(name, null, { clusterRoleSelectors: [{ matchLabels: aggregateTo(name) }] });

function clusterRoleBinding(name: string, subjects: readonly Subject[]): KubeObject {
  return {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: metadata(name),
    subjects,
    roleRef: { apiGroup, kind: 'ClusterRole', name },
  };
}

const controller = (name: string) => `system:controller:${name}`;

function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Rules of every node, besides the permissions that depend on its Pods. */
export const nodeRules = clusterRoleRules['system:node']!;

/** Creates the default roles and bindings, in order of creation. */
export function defaultPolicy(): readonly KubeObject[] {
  return [
    ...Object.entries(clusterRoleRules).map(([name, rules]) => clusterRole(name, rules)),
    ...['admin', 'edit', 'view'].map(aggregated),
    ...Object.entries(controllerRules).map(([name, rules]) => clusterRole(controller(name), rules)),
    ...Object.entries(clusterSubjects).map(([name, subjects]) => clusterRoleBinding(name, subjects)),
    ...Object.keys(controllerRules).map((name) => clusterRoleBinding(controller(name), [account(name)])),
    ...Object.entries(namespaceRoleRules).map(([key, rules]) => {
      const { namespace, name } = splitKey(key);
      return { apiVersion, kind: 'Role', metadata: metadata(name, { namespace }), rules };
    }),
    ...Object.entries(namespaceSubjects).map(([key, { name, subjects }]) => {
      const role = splitKey(key);
      return {
        apiVersion,
        kind: 'RoleBinding',
        metadata: metadata(name ?? role.name, { namespace: role.namespace }),
        subjects,
        roleRef: { apiGroup, kind: 'Role', name: role.name },
      };
    }),
  ];
}
