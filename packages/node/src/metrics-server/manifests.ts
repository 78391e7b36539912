/** API objects of the metrics API: its APIService and the ClusterRole of its readers. */
import { type APIService, apiService } from '@kruise/api/apiregistration/apiservice';
import { type ClusterRole, clusterRole } from '@kruise/api/rbac/clusterrole';
import type { Client } from '@kruise/client/client';
import { createIfMissing } from '@kruise/client/create-if-missing';

/** Service name of the in-process metrics API, as `namespace/name`; no such Service exists in the cluster. */
export const metricsService = 'kube-system/kruise-metrics';

const [namespace = '', name = ''] = metricsService.split('/');

const service: APIService = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1beta1.metrics.k8s.io' },
  spec: {
    group: 'metrics.k8s.io',
    version: 'v1beta1',
    service: { namespace, name, port: 443 },
    insecureSkipTLSVerify: true,
    groupPriorityMinimum: 100,
    versionPriority: 100,
  },
};

const aggregateTo = (role: string) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, 'true'];

const reader: ClusterRole = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: {
    name: 'system:aggregated-metrics-reader',
    labels: Object.fromEntries(['admin', 'edit', 'view'].map(aggregateTo)),
  },
  rules: [{ apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
};

/** Creates missing objects; an existing APIService of another metrics server is left unchanged. */
export async function installMetrics(client: Client): Promise<void> {
  await Promise.all([createIfMissing(client, apiService, service), createIfMissing(client, clusterRole, reader)]);
}
