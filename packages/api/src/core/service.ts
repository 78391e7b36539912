import * as s from '@kruise/schema';
import { condition } from '../meta/condition.ts';
import { kind } from '../meta/kind.ts';

export const servicePort = s.object('io.k8s.api.core.v1.ServicePort', 'A port a Service answers on.', {
  name: s.optional(
    1,
    s.string(),
    'Name of the port, a DNS label, unique in the Service. Must be given if there are several.',
  ),
  protocol: s.optional(2, s.string({ goType: 'v1.Protocol', default: 'TCP' }), 'TCP (the default), UDP or SCTP.'),
  appProtocol: s.pointer(
    6,
    s.string(),
    'The protocol spoken on top, as a hint: an IANA service name, kubernetes.io/h2c, kubernetes.io/ws, kubernetes.io/wss, or a prefixed name of your own.',
  ),
  port: s.required(3, s.int32(), 'The number clients connect to.'),
  targetPort: s.optional(
    4,
    s.intOrString(),
    'Target port of the Pods: a number, or the name of a container port. Default: port.',
  ),
  nodePort: s.optional(
    5,
    s.int32(),
    'Port on every node, for NodePort and LoadBalancer. Unset: allocated, normally from 30000 to 32767.',
  ),
});
export type ServicePort = s.TypeOf<typeof servicePort>;

export const clientIPConfig = s.object('io.k8s.api.core.v1.ClientIPConfig', 'Session affinity options.', {
  timeoutSeconds: s.pointer(1, s.int32(), 'Seconds, 1 to 86400. Default 10800, three hours.'),
});
export type ClientIPConfig = s.TypeOf<typeof clientIPConfig>;

export const sessionAffinityConfig = s.object(
  'io.k8s.api.core.v1.SessionAffinityConfig',
  'Parameters of sessionAffinity.',
  {
    clientIP: s.pointer(1, clientIPConfig, 'Timeout of the session affinity ClientIP.'),
  },
);
export type SessionAffinityConfig = s.TypeOf<typeof sessionAffinityConfig>;

export const serviceSpec = s.object('io.k8s.api.core.v1.ServiceSpec', 'Specification of a Service.', {
  ports: s.optional(1, s.listMap(servicePort, ['port', 'protocol']), 'Ports of the Service.', {
    patchStrategy: 'merge',
    patchMergeKey: 'port',
  }),
  selector: s.optional(
    2,
    s.map(s.string(), { mapType: 'atomic' }),
    'Labels of the Pods that receive the traffic. Unset: the EndpointSlices are managed externally. Not permitted with type ExternalName.',
  ),
  clusterIP: s.optional(
    3,
    s.string(),
    'Cluster IP address. Unset: allocated; None: a headless Service, for which DNS returns the addresses of the Pods. Mostly immutable.',
  ),
  clusterIPs: s.optional(
    18,
    s.atomicList(s.string()),
    'Cluster IP addresses, one for each IP family; the first is clusterIP.',
  ),
  type: s.optional(
    4,
    s.oneOf('v1.ServiceType', ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName']),
    'ClusterIP (the default) within the cluster; NodePort also by a port of every node; LoadBalancer also by one of the cloud; ExternalName is an alias in the DNS.',
  ),
  externalIPs: s.optional(
    5,
    s.atomicList(s.string()),
    'Further addresses whose traffic, once it arrives at a node, is for this Service. Getting it there is up to you.',
  ),
  sessionAffinity: s.optional(
    7,
    s.oneOf('v1.ServiceAffinity', ['ClientIP', 'None']),
    'None (the default), or ClientIP to send a client to the same Pod each time.',
  ),
  loadBalancerIP: s.optional(
    8,
    s.string(),
    'The address the load balancer should have, where the cloud heeds it. Deprecated in favour of its annotations.',
  ),
  loadBalancerSourceRanges: s.optional(
    9,
    s.atomicList(s.string()),
    'Source ranges (CIDRs) that the load balancer admits, if the cloud provider supports it. Unset: all.',
  ),
  externalName: s.optional(10, s.string(), 'DNS name of which the Service is an alias, for type ExternalName.'),
  externalTrafficPolicy: s.optional(
    11,
    s.oneOf('v1.ServiceExternalTrafficPolicy', ['Cluster', 'Local']),
    "Cluster (the default) spreads traffic from outside over all Pods; Local keeps it on the node it came to, and the client's address with it.",
  ),
  healthCheckNodePort: s.optional(
    12,
    s.int32(),
    'Health check port of every node, which reports local Pods, for type LoadBalancer with external traffic policy Local. Unset: allocated. Immutable.',
  ),
  publishNotReadyAddresses: s.optional(13, s.boolean(), 'Lead to Pods that are not ready, too. Default false.'),
  sessionAffinityConfig: s.pointer(14, sessionAffinityConfig, 'Parameters of sessionAffinity.'),
  ipFamilies: s.optional(
    19,
    s.atomicList(s.oneOf('v1.IPFamily', ['IPv4', 'IPv6', ''])),
    'IP families: IPv4, IPv6 or both, the primary one first. Unset: those of the cluster. Only the secondary one is mutable.',
  ),
  ipFamilyPolicy: s.pointer(
    17,
    s.oneOf('v1.IPFamilyPolicy', ['SingleStack', 'PreferDualStack', 'RequireDualStack']),
    'SingleStack (the default), PreferDualStack, or RequireDualStack, which fails if the cluster has one family.',
  ),
  allocateLoadBalancerNodePorts: s.pointer(
    20,
    s.boolean(),
    'Allocation of node ports for type LoadBalancer. Default true; false if the load balancer needs none.',
  ),
  loadBalancerClass: s.pointer(
    21,
    s.string(),
    'Class of the load balancer implementation, for example example.com/internal. Only with type LoadBalancer. Unset: the cloud provider. Immutable.',
  ),
  internalTrafficPolicy: s.pointer(
    22,
    s.oneOf('v1.ServiceInternalTrafficPolicy', ['Cluster', 'Local']),
    'Cluster (the default) spreads traffic from Pods over all; Local keeps it on the node, and drops it if there is no Pod.',
  ),
  trafficDistribution: s.pointer(
    23,
    s.string(),
    'Preference for the distribution of traffic: PreferClose prefers Pods in the zone of the client. Unset: no preference.',
  ),
});
export type ServiceSpec = s.TypeOf<typeof serviceSpec>;

export const portStatus = s.object('io.k8s.api.core.v1.PortStatus', 'Status of one port of a load balancer.', {
  port: s.required(1, s.int32(), 'The port number.'),
  protocol: s.required(2, s.oneOf('v1.Protocol', ['TCP', 'UDP', 'SCTP']), 'TCP, UDP or SCTP.'),
  error: s.pointer(
    3,
    s.string(),
    'Error of the port: a CamelCase word, with a prefix if it is specific to the provider.',
  ),
});
export type PortStatus = s.TypeOf<typeof portStatus>;

export const loadBalancerIngress = s.object('io.k8s.api.core.v1.LoadBalancerIngress', 'A way into a load balancer.', {
  ip: s.optional(1, s.string(), 'IP address, if the load balancer has one.'),
  hostname: s.optional(2, s.string(), 'DNS name, if the load balancer has one.'),
  ipMode: s.pointer(
    3,
    s.string({ goType: 'v1.LoadBalancerIPMode' }),
    'VIP (the default): traffic arrives with this address as its destination; Proxy: it does not, so nodes must not short-cut it.',
  ),
  ports: s.optional(4, s.atomicList(portStatus), 'Statuses of the ports.'),
});
export type LoadBalancerIngress = s.TypeOf<typeof loadBalancerIngress>;

export const loadBalancerStatus = s.object('io.k8s.api.core.v1.LoadBalancerStatus', 'Status of a load balancer.', {
  ingress: s.optional(1, s.atomicList(loadBalancerIngress), 'Addresses of the load balancer. Empty until it is ready.'),
});
export type LoadBalancerStatus = s.TypeOf<typeof loadBalancerStatus>;

export const serviceStatus = s.object('io.k8s.api.core.v1.ServiceStatus', 'Status of a Service.', {
  loadBalancer: s.optional(1, loadBalancerStatus, 'Status of the load balancer, for Services of type LoadBalancer.'),
  conditions: s.optional(
    2,
    s.listMap(condition, ['type']),
    'Conditions of the Service; LoadBalancerPortsError if ports failed.',
    { patchStrategy: 'merge', patchMergeKey: 'type' },
  ),
});
export type ServiceStatus = s.TypeOf<typeof serviceStatus>;

export const service = kind('io.k8s.api.core.v1.Service', 'A lasting address for a changing set of Pods.', {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  scope: 'Namespaced',
  shortNames: ['svc'],
  categories: ['all'],
  subresources: ['proxy', 'status'],
  fields: {
    spec: s.optional(2, serviceSpec, 'Specification of the Service.'),
    status: s.optional(3, serviceStatus, 'Status of the Service.'),
  },
});
export type Service = s.TypeOf<typeof service>;
