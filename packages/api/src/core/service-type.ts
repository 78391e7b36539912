import type { Service, ServiceSpec } from './service.ts';

/** Reports whether a Service is reachable from outside the cluster. */
export function isExternallyAccessible({ type, externalIPs }: ServiceSpec): boolean {
  if (type === 'LoadBalancer' || type === 'NodePort') return true;
  return type === 'ClusterIP' && (externalIPs ?? []).length > 0;
}

/** Reports whether a Service needs a health check node port, at which load balancers find the nodes with its Pods. */
export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

export function needsNodePorts({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

export function needsClusterIP({ type }: ServiceSpec): boolean {
  return type !== 'ExternalName';
}

/** Reports whether a Service is headless: its DNS name resolves to its Pods. */
export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === 'None';
}

/** Reports whether a Service has a cluster IP. */
export function hasClusterIP({ spec }: Service): boolean {
  return Boolean(spec?.clusterIP) && spec?.clusterIP !== 'None';
}
