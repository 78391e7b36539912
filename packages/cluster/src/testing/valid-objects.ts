/** The smallest valid object of every kind that can be created, by `kind.version.group`; metadata is omitted. */
import type { JsonMembers } from './full-object.ts';

const selector = { matchLabels: { app: 'a' } };
const container = { name: 'main', image: 'image:1' };
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [container] } };
const onceTemplate = { spec: { restartPolicy: 'Never', containers: [container] } };
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const probe = { name: 'probe', containerName: 'main', probe: { exec: { command: ['true'] } }, podConditionType: 'a/a' };
const ephemeralContainer = {
  name: 'extra',
  image: 'image:1',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'Always',
};
const event = {
  action: 'a',
  reason: 'a',
  type: 'Normal',
  reportingInstance: 'a',
  reportingController: 'example.com/a',
};
const webhook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/a' },
  rules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], resources: ['nones'], operations: ['CREATE'] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const scaled = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, maxReplicas: 3 };
const pullJob = { completionPolicy: { type: 'Always' } };

export const validObjects: { readonly [kind: string]: JsonMembers } = {
  'Binding.v1.': { target: { kind: 'Node', name: 'a' } },
  'ConfigMap.v1.': { data: { a: 'a' } },
  'Endpoints.v1.': { subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }] },
  'Event.v1.': { involvedObject: { kind: 'Pod', name: 'a', namespace: 'default' } },
  'LimitRange.v1.': { spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } },
  'Namespace.v1.': {},
  'Node.v1.': {},
  'PersistentVolumeClaim.v1.': { spec: claimSpec },
  'PersistentVolume.v1.': {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } },
  },
  'Pod.v1.': { spec: { containers: [container] } },
  'PodTemplate.v1.': { template },
  'ReplicationController.v1.': { spec: { selector: { app: 'a' }, template } },
  'ResourceQuota.v1.': { spec: { hard: { 'count/nones.example.com': '1' } } },
  'Secret.v1.': { data: { a: 'YQ==' } },
  'ServiceAccount.v1.': {},
  'Service.v1.': { spec: { ports: [{ port: 80 }] } },
  'ControllerRevision.v1.apps': { revision: 1, data: { a: 'a' } },
  'DaemonSet.v1.apps': { spec: { selector, template } },
  'Deployment.v1.apps': { spec: { selector, template } },
  'ReplicaSet.v1.apps': { spec: { selector, template } },
  'StatefulSet.v1.apps': { spec: { selector, template, serviceName: 'a' } },
  'Event.v1.events.k8s.io': { ...event, eventTime: '2024-01-01T00:00:00.000000Z' },
  'SelfSubjectReview.v1.authentication.k8s.io': {},
  'TokenReview.v1.authentication.k8s.io': { spec: { token: 'a' } },
  'LocalSubjectAccessReview.v1.authorization.k8s.io': {
    spec: { user: 'a', resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } },
  },
  'SelfSubjectAccessReview.v1.authorization.k8s.io': {
    spec: { resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } },
  },
  'SelfSubjectRulesReview.v1.authorization.k8s.io': { spec: { namespace: 'default' } },
  'SubjectAccessReview.v1.authorization.k8s.io': {
    spec: { user: 'a', resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } },
  },
  'HorizontalPodAutoscaler.v2.autoscaling': { spec: scaled },
  'HorizontalPodAutoscaler.v1.autoscaling': { spec: scaled },
  'CronJob.v1.batch': { spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: onceTemplate } } } },
  'Job.v1.batch': { spec: { template: onceTemplate } },
  'CertificateSigningRequest.v1.certificates.k8s.io': {
    spec: { request: 'YQ==', signerName: 'example.com/a', usages: ['client auth'] },
  },
  'IngressClass.v1.networking.k8s.io': { spec: { controller: 'example.com/a' } },
  'Ingress.v1.networking.k8s.io': { spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } } },
  'IPAddress.v1.networking.k8s.io': {
    metadata: { name: '10.96.0.9' },
    spec: { parentRef: { group: '', resource: 'services', namespace: 'default', name: 'a' } },
  },
  'NetworkPolicy.v1.networking.k8s.io': { spec: { podSelector: {} } },
  'ServiceCIDR.v1.networking.k8s.io': { spec: { cidrs: ['192.0.2.0/24'] } },
  'PodDisruptionBudget.v1.policy': { spec: { selector, minAvailable: 1 } },
  'ClusterRoleBinding.v1.rbac.authorization.k8s.io': {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'a' }],
  },
  'ClusterRole.v1.rbac.authorization.k8s.io': { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  'RoleBinding.v1.rbac.authorization.k8s.io': {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'a' }],
  },
  'Role.v1.rbac.authorization.k8s.io': { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  'CSIDriver.v1.storage.k8s.io': { spec: {} },
  'CSINode.v1.storage.k8s.io': { spec: { drivers: [{ name: 'a.example.com', nodeID: 'a' }] } },
  'CSIStorageCapacity.v1.storage.k8s.io': { storageClassName: 'a', capacity: '1Gi' },
  'StorageClass.v1.storage.k8s.io': { provisioner: 'example.com/a' },
  'VolumeAttachment.v1.storage.k8s.io': {
    spec: { attacher: 'example.com', nodeName: 'a', source: { persistentVolumeName: 'a' } },
  },
  'MutatingWebhookConfiguration.v1.admissionregistration.k8s.io': { webhooks: [webhook] },
  'ValidatingWebhookConfiguration.v1.admissionregistration.k8s.io': { webhooks: [webhook] },
  'ValidatingAdmissionPolicy.v1.admissionregistration.k8s.io': {
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nones'] },
        ],
      },
      validations: [{ expression: 'true' }],
    },
  },
  'ValidatingAdmissionPolicyBinding.v1.admissionregistration.k8s.io': {
    spec: { policyName: 'a', validationActions: ['Deny'] },
  },
  'CustomResourceDefinition.v1.apiextensions.k8s.io': {
    metadata: { name: 'nones.none.example.com' },
    spec: {
      group: 'none.example.com',
      names: { plural: 'nones', kind: 'None' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  },
  'PriorityClass.v1.scheduling.k8s.io': { value: 1 },
  'Lease.v1.coordination.k8s.io': { spec: { holderIdentity: 'a', leaseDurationSeconds: 1 } },
  'RuntimeClass.v1.node.k8s.io': { handler: 'a' },
  'EndpointSlice.v1.discovery.k8s.io': { addressType: 'IPv4', endpoints: [{ addresses: ['192.0.2.1'] }], ports: [] },
  'FlowSchema.v1.flowcontrol.apiserver.k8s.io': {
    spec: { priorityLevelConfiguration: { name: 'global-default' }, matchingPrecedence: 9000 },
  },
  'PriorityLevelConfiguration.v1.flowcontrol.apiserver.k8s.io': {
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } },
  },
  'APIService.v1.apiregistration.k8s.io': {
    metadata: { name: 'v1.aggregated.example.com' },
    spec: {
      group: 'aggregated.example.com',
      version: 'v1',
      service: { namespace: 'default', name: 'a' },
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  },
  'AdvancedCronJob.v1beta1.apps.kruise.io': {
    spec: { schedule: '0 0 1 1 *', template: { jobTemplate: { spec: { template: onceTemplate } } } },
  },
  'BroadcastJob.v1beta1.apps.kruise.io': { spec: { template: onceTemplate, completionPolicy: { type: 'Always' } } },
  'CloneSet.v1beta1.apps.kruise.io': { spec: { replicas: 1, selector, template } },
  'CloneSet.v1alpha1.apps.kruise.io': { spec: { replicas: 1, selector, template } },
  'DaemonSet.v1beta1.apps.kruise.io': { spec: { selector, template } },
  'EphemeralJob.v1alpha1.apps.kruise.io': {
    spec: { selector, template: { ephemeralContainers: [ephemeralContainer] } },
  },
  'ImageListPullJob.v1beta1.apps.kruise.io': { spec: { images: ['image:1'], ...pullJob } },
  'ImagePullJob.v1beta1.apps.kruise.io': { spec: { image: 'image:1', ...pullJob } },
  'NodeImage.v1beta1.apps.kruise.io': { spec: {} },
  'NodePodProbe.v1alpha1.apps.kruise.io': { spec: {} },
  'PersistentPodState.v1beta1.apps.kruise.io': {
    spec: {
      targetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'a' },
      requiredPersistentTopology: { keys: ['zone'] },
    },
  },
  'PersistentPodState.v1alpha1.apps.kruise.io': {
    spec: {
      targetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'a' },
      requiredPersistentTopology: { nodeTopologyKeys: ['zone'] },
    },
  },
  'PodProbeMarker.v1alpha1.apps.kruise.io': { spec: { selector, probes: [probe] } },
  'PodUnavailableBudget.v1beta1.policy.kruise.io': { spec: { selector, maxUnavailable: 1 } },
  'ResourceDistribution.v1beta1.apps.kruise.io': {
    spec: {
      resource: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'distributed' } },
      targets: { includedNamespaces: { list: [{ name: 'default' }] } },
    },
  },
  'SidecarSet.v1beta1.apps.kruise.io': { spec: { selector, containers: [container] } },
  'StatefulSet.v1beta1.apps.kruise.io': { spec: { selector, template, serviceName: 'a' } },
  'UnitedDeployment.v1beta1.apps.kruise.io': {
    spec: {
      selector,
      template: { cloneSetTemplate: { metadata: { labels: { app: 'a' } }, spec: { selector, template } } },
      topology: { subsets: [{ name: 'one' }] },
    },
  },
  'WorkloadSpread.v1alpha1.apps.kruise.io': {
    spec: {
      targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'b' },
      subsets: [{ name: 'one', maxReplicas: 1 }],
    },
  },
  'WorkloadSpread.v1beta1.apps.kruise.io': {
    spec: {
      targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
      subsets: [{ name: 'one', maxReplicas: 1 }],
    },
  },
  'ContainerRecreateRequest.v1beta1.apps.kruise.io': { spec: { podName: 'a', containers: [{ name: 'main' }] } },
};
