/** API objects that run cluster DNS on any cluster: permissions, configuration, Deployment and the `kube-dns` Service. */
import { type Deployment, deployment } from '@kruise/api/apps/deployment';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { type Service, service } from '@kruise/api/core/service';
import { type ServiceAccount, serviceAccount } from '@kruise/api/core/serviceaccount';
import { type ClusterRole, clusterRole } from '@kruise/api/rbac/clusterrole';
import { type ClusterRoleBinding, clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';

export type DnsManifestOptions = {
  readonly image: string;
  /** Cluster IP of the Service, to which kubelets point their Pods (`--cluster-dns`). */
  readonly clusterIP: string;
  readonly clusterDomain: string;
  readonly replicas: number;
};

const namespace = 'kube-system';
const account = 'kruise-dns';
const role = 'system:kruise-dns';
const configuration = 'kube-dns';
/** Label by which other components find cluster DNS, whatever implements it. */
const labels = { 'k8s-app': 'kube-dns' };
/** Above 1023, so that the container needs no capability. */
const containerPort = 1053;

/** Returns the objects in the order in which they can be created. */
export function dnsManifests(options: DnsManifestOptions): readonly object[] {
  return [
    typed(serviceAccount, dnsAccount),
    typed(clusterRole, dnsRole),
    typed(clusterRoleBinding, dnsRoleBinding),
    typed(configMap, dnsConfiguration),
    typed(deployment, dnsDeployment(options)),
    typed(service, dnsService(options)),
  ];
}

export const dnsAccount: Untyped<ServiceAccount> = { metadata: { name: account, namespace, labels } };

/** As the role of CoreDNS: Pods are listed by configurations that verify the names of Pods. */
export const dnsRole: Untyped<ClusterRole> = {
  metadata: { name: role },
  rules: [
    { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ],
};

export const dnsRoleBinding: Untyped<ClusterRoleBinding> = {
  metadata: { name: role },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
};

const dnsConfiguration: Untyped<ConfigMap> = {
  metadata: { name: configuration, namespace, labels },
  data: { stubDomains: '{}' },
};

function dnsDeployment({ image, clusterDomain, replicas }: DnsManifestOptions): Untyped<Deployment> {
  const probe = (path: string, port: number, initialDelaySeconds: number) => ({
    httpGet: { path, port },
    initialDelaySeconds,
    timeoutSeconds: 5,
    failureThreshold: 5,
  });
  return {
    metadata: { name: account, namespace, labels: { ...labels, 'kubernetes.io/name': 'KruiseDNS' } },
    spec: {
      replicas,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: 'system-cluster-critical',
          serviceAccountName: account,
          // The resolv.conf of the node: that of the cluster would lead back to this server.
          dnsPolicy: 'Default',
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          tolerations: [
            { key: 'CriticalAddonsOnly', operator: 'Exists' },
            { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
          ],
          affinity: {
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: 100,
                  podAffinityTerm: { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' },
                },
              ],
            },
          },
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'dns',
              image,
              command: ['node', '/kruise/main.mjs'],
              args: [
                'dns',
                `--cluster-domain=${clusterDomain}`,
                `--port=${containerPort}`,
                '--config-dir=/etc/kube-dns',
              ],
              ports: [
                { name: 'dns', containerPort, protocol: 'UDP' },
                { name: 'dns-tcp', containerPort, protocol: 'TCP' },
                { name: 'metrics', containerPort: 9153, protocol: 'TCP' },
              ],
              resources: { requests: { cpu: '100m', memory: '100Mi' }, limits: { memory: '300Mi' } },
              livenessProbe: probe('/health', 8080, 60),
              readinessProbe: probe('/ready', 8181, 0),
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
                readOnlyRootFilesystem: true,
              },
              volumeMounts: [{ name: 'config', mountPath: '/etc/kube-dns', readOnly: true }],
            },
          ],
          volumes: [{ name: 'config', configMap: { name: configuration, optional: true } }],
        },
      },
    },
  };
}

function dnsService({ clusterIP }: DnsManifestOptions): Untyped<Service> {
  return {
    metadata: {
      name: 'kube-dns',
      namespace,
      labels: { ...labels, 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'KruiseDNS' },
      annotations: { 'prometheus.io/port': '9153', 'prometheus.io/scrape': 'true' },
    },
    spec: {
      selector: labels,
      clusterIP,
      ports: [
        { name: 'dns', port: 53, targetPort: 'dns', protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, targetPort: 'dns-tcp', protocol: 'TCP' },
        { name: 'metrics', port: 9153, targetPort: 'metrics', protocol: 'TCP' },
      ],
    },
  };
}

type Untyped<T> = Omit<T, 'apiVersion' | 'kind'>;

function typed<T extends object>(kind: Kind, object: T): object {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
}
