import { defaultDaemonSet } from '@kruise/api/apps/daemonset.default';
import { defaultDeployment } from '@kruise/api/apps/deployment.default';
import { defaultReplicaSet } from '@kruise/api/apps/replicaset.default';
import { defaultStatefulSet } from '@kruise/api/apps/statefulset.default';
import { defaultPod } from '@kruise/api/core/pod.default';
import type { Draft } from '@kruise/schema/draft';
import { type Kind, resourceOf } from '@kruise/schema/kind';
import type { KubeObject } from '../object.ts';
import type { Rules } from './rules.ts';

/** A kind's own function, which knows the type of its objects, where all kinds are treated alike. */
function of<T>(change: (draft: Draft<T>) => void): (draft: Draft<KubeObject>) => void {
  return change as unknown as (draft: Draft<KubeObject>) => void;
}

/** What is particular about each kind, by its resource. */
const rules: { readonly [resource: string]: Rules } = {
  pods: { returnsDeleted: true, default: of(defaultPod) },
  services: { createOnUpdate: true, generation: 'none', returnsDeleted: true },
  endpoints: { createOnUpdate: true },
  events: { createOnUpdate: true, propagation: 'Unsupported', ttlSeconds: 3600 },
  limitranges: { createOnUpdate: true },
  'leases.coordination.k8s.io': { createOnUpdate: true, unconditionalUpdate: false },
  'roles.rbac.authorization.k8s.io': { createOnUpdate: true },
  'clusterroles.rbac.authorization.k8s.io': { createOnUpdate: true },
  'rolebindings.rbac.authorization.k8s.io': { createOnUpdate: true },
  'clusterrolebindings.rbac.authorization.k8s.io': { createOnUpdate: true },
  'runtimeclasses.node.k8s.io': { createOnUpdate: true, unconditionalUpdate: false },
  serviceaccounts: { returnsDeleted: true },
  resourcequotas: { returnsDeleted: true, generation: 'none' },
  podtemplates: { returnsDeleted: true, generation: 'spec' },
  persistentvolumes: { returnsDeleted: true, generation: 'none' },
  persistentvolumeclaims: { returnsDeleted: true, generation: 'none' },
  namespaces: { returnsDeleted: true, generation: 'none' },
  nodes: { generation: 'none', keepsStatusOnCreate: true },
  replicationcontrollers: { propagation: 'Orphan' },
  'deployments.apps': { default: of(defaultDeployment) },
  'replicasets.apps': { default: of(defaultReplicaSet) },
  'statefulsets.apps': { default: of(defaultStatefulSet) },
  'daemonsets.apps': { default: of(defaultDaemonSet) },
  'jobs.batch': { propagation: 'Orphan' },
  'horizontalpodautoscalers.autoscaling': { generation: 'none' },
  'poddisruptionbudgets.policy': { unconditionalUpdate: false },
  'ingressclasses.networking.k8s.io': { generation: 'spec' },
  'networkpolicies.networking.k8s.io': { generation: 'spec' },
  'certificatesigningrequests.certificates.k8s.io': { generation: 'none' },
  'servicecidrs.networking.k8s.io': { generation: 'none' },
  'priorityclasses.scheduling.k8s.io': { generation: () => false },
  'storageclasses.storage.k8s.io': { returnsDeleted: true },
  'csidrivers.storage.k8s.io': { unconditionalUpdate: false, returnsDeleted: true, generation: 'spec' },
  'csinodes.storage.k8s.io': { unconditionalUpdate: false, returnsDeleted: true },
  'volumeattachments.storage.k8s.io': { unconditionalUpdate: false, returnsDeleted: true, generation: 'none' },
  'csistoragecapacities.storage.k8s.io': { unconditionalUpdate: false },
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': { unconditionalUpdate: false, generation: 'spec' },
  'validatingwebhookconfigurations.admissionregistration.k8s.io': { unconditionalUpdate: false, generation: 'spec' },
  'validatingadmissionpolicies.admissionregistration.k8s.io': { unconditionalUpdate: false },
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': { unconditionalUpdate: false, generation: 'spec' },
  'customresourcedefinitions.apiextensions.k8s.io': { unconditionalUpdate: false },
  'apiservices.apiregistration.k8s.io': { unconditionalUpdate: false, generation: 'none' },
};

const usual: Rules = {};

export function rulesOf(kind: Kind): Rules {
  return rules[resourceOf(kind)] ?? usual;
}
