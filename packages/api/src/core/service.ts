import * as s from '@kruise/schema';
import { condition } from '../meta/condition.ts';
import { kind } from '../meta/kind.ts';

export const servicePort = s.object('io.k8s.api.core.v1.ServicePort', '', {
  name: s.optional(1, s.string(), ''),
  protocol: s.optional(2, s.string({ goType: 'v1.Protocol', default: 'TCP' }), ''),
  appProtocol: s.pointer(6, s.string(), ''),
  port: s.required(3, s.int32(), ''),
  targetPort: s.optional(4, s.intOrString(), ''),
  nodePort: s.optional(5, s.int32(), ''),
});
export type ServicePort = s.TypeOf<typeof servicePort>;

export const clientIPConfig = s.object('io.k8s.api.core.v1.ClientIPConfig', '', {
  timeoutSeconds: s.pointer(1, s.int32(), ''),
});
export type ClientIPConfig = s.TypeOf<typeof clientIPConfig>;

export const sessionAffinityConfig = s.object('io.k8s.api.core.v1.SessionAffinityConfig', '', {
  clientIP: s.pointer(1, clientIPConfig, ''),
});
export type SessionAffinityConfig = s.TypeOf<typeof sessionAffinityConfig>;

export const serviceSpec = s.object('io.k8s.api.core.v1.ServiceSpec', '', {
  ports: s.optional(1, s.listMap(servicePort, ['port', 'protocol']), '', { patchStrategy: 'merge', patchMergeKey: 'port' }),
  selector: s.optional(2, s.map(s.string(), { mapType: 'atomic' }), ''),
  clusterIP: s.optional(3, s.string(), ''),
  clusterIPs: s.optional(18, s.atomicList(s.string()), ''),
  type: s.optional(4, s.oneOf('v1.ServiceType', ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName']), ''),
  externalIPs: s.optional(5, s.atomicList(s.string()), ''),
  sessionAffinity: s.optional(7, s.oneOf('v1.ServiceAffinity', ['ClientIP', 'None']), ''),
  loadBalancerIP: s.optional(8, s.string(), ''),
  loadBalancerSourceRanges: s.optional(9, s.atomicList(s.string()), ''),
  externalName: s.optional(10, s.string(), ''),
  externalTrafficPolicy: s.optional(11, s.oneOf('v1.ServiceExternalTrafficPolicy', ['Cluster', 'Local']), ''),
  healthCheckNodePort: s.optional(12, s.int32(), ''),
  publishNotReadyAddresses: s.optional(13, s.boolean(), ''),
  sessionAffinityConfig: s.pointer(14, sessionAffinityConfig, ''),
  ipFamilies: s.optional(19, s.atomicList(s.oneOf('v1.IPFamily', ['IPv4', 'IPv6', ''])), ''),
  ipFamilyPolicy: s.pointer(17, s.oneOf('v1.IPFamilyPolicy', ['SingleStack', 'PreferDualStack', 'RequireDualStack']), ''),
  allocateLoadBalancerNodePorts: s.pointer(20, s.boolean(), ''),
  loadBalancerClass: s.pointer(21, s.string(), ''),
  internalTrafficPolicy: s.pointer(22, s.oneOf('v1.ServiceInternalTrafficPolicy', ['Cluster', 'Local']), ''),
  trafficDistribution: s.pointer(23, s.string(), ''),
});
export type ServiceSpec = s.TypeOf<typeof serviceSpec>;

export const portStatus = s.object('io.k8s.api.core.v1.PortStatus', '', {
  port: s.required(1, s.int32(), ''),
  protocol: s.required(2, s.oneOf('v1.Protocol', ['TCP', 'UDP', 'SCTP']), ''),
  error: s.pointer(3, s.string(), ''),
});
export type PortStatus = s.TypeOf<typeof portStatus>;

export const loadBalancerIngress = s.object('io.k8s.api.core.v1.LoadBalancerIngress', '', {
  ip: s.optional(1, s.string(), ''),
  hostname: s.optional(2, s.string(), ''),
  ipMode: s.pointer(3, s.string({ goType: 'v1.LoadBalancerIPMode' }), ''),
  ports: s.optional(4, s.atomicList(portStatus), ''),
});
export type LoadBalancerIngress = s.TypeOf<typeof loadBalancerIngress>;

export const loadBalancerStatus = s.object('io.k8s.api.core.v1.LoadBalancerStatus', '', {
  ingress: s.optional(1, s.atomicList(loadBalancerIngress), ''),
});
export type LoadBalancerStatus = s.TypeOf<typeof loadBalancerStatus>;

export const serviceStatus = s.object('io.k8s.api.core.v1.ServiceStatus', '', {
  loadBalancer: s.optional(1, loadBalancerStatus, ''),
  conditions: s.optional(2, s.listMap(condition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
});
export type ServiceStatus = s.TypeOf<typeof serviceStatus>;

export const service = kind('io.k8s.api.core.v1.Service', '', {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  scope: 'Namespaced',
  shortNames: ['svc'],
  categories: ['all'],
  subresources: ['proxy', 'status'],
  fields: {
    spec: s.optional(2, serviceSpec, ''),
    status: s.optional(3, serviceStatus, ''),
  },
});
export type Service = s.TypeOf<typeof service>;
