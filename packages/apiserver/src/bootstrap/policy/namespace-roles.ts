import type { RuleSets } from './rule.ts';
import { read, recordEvents, rule } from './rule.ts';

/** Rules of the default Roles, by namespace and name. */
export const namespaceRoleRules: RuleSets = {
  'kube-public/system:controller:bootstrap-signer': [
    rule(read, 'core', 'configmaps'),
    rule('update', 'core', 'configmaps', 'cluster-info'),
    recordEvents,
  ],
  'kube-system/extension-apiserver-authentication-reader': [
    rule(read, 'core', 'configmaps', 'extension-apiserver-authentication'),
  ],
  'kube-system/system::leader-locking-kube-controller-manager': [
    rule('watch', 'core', 'configmaps'),
    rule('get update', 'core', 'configmaps', 'kube-controller-manager'),
    rule('create get list update watch', 'coordination.k8s.io', 'leases'),
    rule('create get list update watch', 'coordination.k8s.io', 'leasecandidates'),
  ],
  'kube-system/system::leader-locking-kube-scheduler': [
    rule('watch', 'core', 'configmaps'),
    rule('get update', 'core', 'configmaps', 'kube-scheduler'),
    rule('create get list update watch', 'coordination.k8s.io', 'leases'),
    rule('create get list update watch', 'coordination.k8s.io', 'leasecandidates'),
  ],
  'kube-system/system:controller:bootstrap-signer': [rule(read, 'core', 'secrets')],
  'kube-system/system:controller:cloud-provider': [rule('create get list watch', 'core', 'configmaps')],
  'kube-system/system:controller:token-cleaner': [rule('delete get list watch', 'core', 'secrets'), recordEvents],
};
