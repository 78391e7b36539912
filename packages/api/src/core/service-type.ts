import type { Service, ServiceSpec } from './service.ts';

/** Whether traffic from outside the cluster can come to it. */
export function isExternallyAccessible({ type, externalIPs }: ServiceSpec): boolean {
  if (type === 'LoadBalancer' || type === 'NodePort') return true;
  return type === 'ClusterIP' && (externalIPs ?? []).length > 0;
}

/** Whether every node has a port that tells load balancers if Pods of it run there. */
export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

export function needsNodePorts({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

export function needsClusterIP({ type }: ServiceSpec): boolean {
  return type !== 'ExternalName';
}

/** Whether its name stands for its Pods themselves, without an address in between. */
export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === 'None';
}

/** Whether it has an address of its own. */
export function hasClusterIP({ spec }: Service): boolean {
  return Boolean(spec?.clusterIP) && spec?.clusterIP !== 'None';
}
