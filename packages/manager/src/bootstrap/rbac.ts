/**
 * RBAC of kruise-manager and kruise-daemon: their ServiceAccounts, roles and bindings, and the rules that users of
 * Kruise's kinds gain through the aggregated default roles.
 */
import { namespace as namespaceKind } from '@kruise/api/core/namespace';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { kruiseKinds } from '@kruise/api/kruise/crds';
import { daemonConfigNamespace } from '@kruise/api/kruise/well-known';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { role } from '@kruise/api/rbac/role';
import { roleBinding } from '@kruise/api/rbac/rolebinding';
import type { Client } from '@kruise/client/client';
import type { Kind } from '@kruise/schema/kind';
import { mutatingConfigurationName, validatingConfigurationName } from '../webhooks/configurations.ts';

/** The ServiceAccount of kruise-manager. */
export const managerAccount = 'kruise-manager';

/** The ServiceAccount of the kruise-daemon on every node. */
export const daemonAccount = 'kruise-daemon';

const all = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const read = ['get', 'list', 'watch'];
const write = ['get', 'patch', 'update'];
const apps = 'apps.kruise.io';
const policy = 'policy.kruise.io';

const managed = [
  'advancedcronjobs',
  'broadcastjobs',
  'clonesets',
  'containerrecreaterequests',
  'daemonsets',
  'imagelistpulljobs',
  'imagepulljobs',
  'nodeimages',
  'nodepodprobes',
  'persistentpodstates',
  'podprobemarkers',
  'sidecarsets',
  'statefulsets',
  'uniteddeployments',
];
const alsoWithStatus = ['ephemeraljobs', 'resourcedistributions', 'workloadspreads'];
const below = (plurals: readonly string[], part: string) => plurals.map((plural) => `${plural}/${part}`);

type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

function rule(group: string, resources: readonly string[], verbs: readonly string[]): Rule {
  return { apiGroups: [group], resources, verbs };
}

const configurations = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'];

const managerRules: readonly Rule[] = [
  rule('', ['configmaps', 'events', 'persistentvolumeclaims', 'pods'], all),
  rule('', ['namespaces', 'nodes'], read),
  rule('', ['pods/status', 'pods/ephemeralcontainers', 'pods/resize'], write),
  rule('', ['secrets'], ['create', 'delete', 'get', 'list', 'update', 'watch']),
  // Objects that block the deletion of a CRD may be of any kind.
  rule('*', ['*'], ['list']),
  rule('*', ['*/scale'], read),
  rule('admissionregistration.k8s.io', configurations, read),
  rule('apiextensions.k8s.io', ['customresourcedefinitions'], read),
  rule('apps', ['controllerrevisions', 'deployments', 'statefulsets'], all),
  rule('apps', ['deployments/status', 'statefulsets/status'], write),
  rule('apps', ['replicasets'], read),
  rule('apps', ['replicasets/status'], ['get']),
  rule(apps, managed, all),
  rule(apps, below([...managed, ...alsoWithStatus], 'finalizers'), ['update']),
  rule(apps, below([...managed, ...alsoWithStatus], 'status'), write),
  rule(apps, ['ephemeraljobs'], ['delete', 'get', 'list', 'patch', 'update', 'watch']),
  rule(apps, ['resourcedistributions'], read),
  rule(apps, ['workloadspreads'], ['get', 'list', 'patch', 'update', 'watch']),
  rule('batch', ['jobs'], all),
  rule('batch', ['jobs/status'], write),
  rule(policy, ['podunavailablebudgets'], all),
  rule(policy, ['podunavailablebudgets/finalizers'], ['update']),
  rule(policy, ['podunavailablebudgets/status'], write),
  rule('storage.k8s.io', ['storageclasses'], read),
];

/**
 * Permits to register the CA of the webhooks with the API server. Not needed where an external issuer provides the
 * certificates and registers its CA.
 */
const certificateRules: readonly Rule[] = [
  {
    ...rule('admissionregistration.k8s.io', configurations, ['patch', 'update']),
    resourceNames: [mutatingConfigurationName, validatingConfigurationName],
  },
  rule('admissionregistration.k8s.io', configurations, ['create']),
  {
    ...rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['patch', 'update']),
    resourceNames: kruiseKinds
      .filter(({ conversion }) => conversion === 'Webhook')
      .map(({ stored }) => `${stored.plural}.${stored.group}`),
  },
];

/** Permits to store the certificates. */
const webhookRules: readonly Rule[] = [rule('', ['secrets'], all)];

const electionRules: readonly Rule[] = [rule('coordination.k8s.io', ['leases'], all), rule('', ['events'], ['create'])];

const daemonRules: readonly Rule[] = [
  rule('', ['events'], ['create', 'patch', 'update']),
  rule('', ['pods'], read),
  rule('', ['pods/status'], write),
  rule(apps, ['nodeimages'], ['get', 'list', 'patch', 'update', 'watch']),
  rule(apps, ['containerrecreaterequests', 'nodepodprobes'], read),
  rule(apps, ['containerrecreaterequests/status', 'nodeimages/status', 'nodepodprobes/status'], write),
];

const daemonSecretRules: readonly Rule[] = [rule('', ['secrets'], read)];

const rbac = 'rbac.authorization.k8s.io';

/** An object that an account needs for its permissions. */
export type RbacObject = { readonly kind: Kind; readonly object: object };

type Account = { readonly name: string; readonly namespace: string };

function bound(kind: 'ClusterRole' | 'Role', name: string, account: Account) {
  return { roleRef: { apiGroup: rbac, kind, name }, subjects: [{ kind: 'ServiceAccount', ...account }] };
}

function grantedEverywhere(name: string, rules: readonly Rule[], account: Account): readonly RbacObject[] {
  return [
    { kind: clusterRole, object: { metadata: { name }, rules } },
    {
      kind: clusterRoleBinding,
      object: { metadata: { name: `${name}binding` }, ...bound('ClusterRole', name, account) },
    },
  ];
}

function grantedIn(namespace: string, name: string, rules: readonly Rule[], account: Account): readonly RbacObject[] {
  return [
    { kind: role, object: { metadata: { name, namespace }, rules } },
    { kind: roleBinding, object: { metadata: { name: `${name}binding`, namespace }, ...bound('Role', name, account) } },
  ];
}

/**
 * Returns Kruise's own namespace, which its webhooks exempt, and the namespace with the Secrets that are copied for
 * daemons.
 */
function namespaces(own: string): readonly RbacObject[] {
  const labels = { 'control-plane': 'openkruise' };
  return [
    { kind: namespaceKind, object: { metadata: { name: own, labels } } },
    { kind: namespaceKind, object: { metadata: { name: daemonConfigNamespace } } },
  ];
}

/** Returns the objects that grant kruise-manager its permissions, in order of creation. */
export function managerRbac(namespace: string): readonly RbacObject[] {
  const account = { name: managerAccount, namespace };
  return [
    ...namespaces(namespace),
    { kind: serviceAccount, object: { metadata: account } },
    ...grantedEverywhere('kruise-manager-role', managerRules, account),
    ...grantedEverywhere('kruise-certs-role', certificateRules, account),
    ...grantedIn(namespace, 'kruise-leader-election-role', electionRules, account),
    ...grantedIn(namespace, 'kruise-webhook-role', webhookRules, account),
    ...userRoles(),
  ];
}

/**
 * Returns the objects that grant kruise-daemon its permissions. It can read only the Secrets that were copied for it.
 */
export function daemonRbac(namespace: string): readonly RbacObject[] {
  const account = { name: daemonAccount, namespace };
  return [
    ...namespaces(namespace),
    { kind: serviceAccount, object: { metadata: account } },
    ...grantedEverywhere('kruise-daemon-role', daemonRules, account),
    ...grantedIn(daemonConfigNamespace, 'kruise-daemon-secret-role', daemonSecretRules, account),
  ];
}

/** Returns the roles of viewers, editors and administrators of a namespace for Kruise's kinds. */
function userRoles(): readonly RbacObject[] {
  const ofUsers = managed.filter((plural) => plural !== 'nodeimages' && plural !== 'nodepodprobes');
  const scaled = ['clonesets', 'statefulsets', 'uniteddeployments'];
  const aggregated = (name: string, rules: readonly Rule[]) => ({
    kind: clusterRole,
    object: {
      metadata: {
        name: `aggregate-kruise-${name}`,
        labels: { [`${rbac}/aggregate-to-${name}`]: 'true' },
      },
      rules,
    },
  });
  const changes = ['create', 'delete', 'deletecollection', 'patch', 'update'];
  return [
    aggregated('view', [
      rule(apps, [...ofUsers, 'workloadspreads', ...below([...ofUsers, 'workloadspreads'], 'status')], read),
      rule(apps, below(scaled, 'scale'), read),
      rule(policy, ['podunavailablebudgets', 'podunavailablebudgets/status'], read),
    ]),
    aggregated('edit', [
      rule(apps, [...ofUsers, 'workloadspreads', ...below(scaled, 'scale')], changes),
      rule(policy, ['podunavailablebudgets'], changes),
    ]),
    aggregated('admin', [rule(apps, ['resourcedistributions'], [...all, 'deletecollection'])]),
  ];
}

/** Grants kruise-manager its permissions. The client must be allowed to grant them. */
export function grantManagerPermissions(client: Client, namespace: string): Promise<void> {
  return grant(client, managerRbac(namespace));
}

/** Grants kruise-daemon its permissions. */
export function grantDaemonPermissions(client: Client, namespace: string): Promise<void> {
  return grant(client, daemonRbac(namespace));
}

async function grant(client: Client, granted: readonly RbacObject[]): Promise<void> {
  for (const { kind, object } of granted) {
    // The object has the fields of its kind.
    await client.apply(kind, object as never, { fieldManager: 'kruise-bootstrap', force: true });
  }
}
