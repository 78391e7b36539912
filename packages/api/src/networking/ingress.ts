import * as s from '@kruise/schema';
import { typedLocalObjectReference } from '../core/reference.ts';
import { kind } from '../meta/kind.ts';

export const serviceBackendPort = s.object(
  'io.k8s.api.networking.v1.ServiceBackendPort',
  'A port of a Service; exactly one of both.',
  {
    name: s.optional(1, s.string(), 'Name of the port.'),
    number: s.optional(2, s.int32(), 'Number of the port.'),
  },
  { mapType: 'atomic' },
);
export type ServiceBackendPort = s.TypeOf<typeof serviceBackendPort>;

export const ingressServiceBackend = s.object(
  'io.k8s.api.networking.v1.IngressServiceBackend',
  'A Service requests are sent to.',
  {
    name: s.required(1, s.string(), 'Name of the Service, in the namespace of the Ingress.'),
    port: s.optional(2, serviceBackendPort, 'Port of the Service.'),
  },
);
export type IngressServiceBackend = s.TypeOf<typeof ingressServiceBackend>;

export const ingressBackend = s.object('io.k8s.api.networking.v1.IngressBackend', 'Backend of requests; exactly one.', {
  service: s.pointer(4, ingressServiceBackend, 'A Service.'),
  resource: s.pointer(
    3,
    typedLocalObjectReference,
    'Reference to an object in the namespace of the Ingress. Excludes service.',
  ),
});
export type IngressBackend = s.TypeOf<typeof ingressBackend>;

export const ingressTLS = s.object('io.k8s.api.networking.v1.IngressTLS', 'Hosts served by TLS.', {
  hosts: s.optional(
    1,
    s.atomicList(s.string()),
    'Names that are in the certificate. Unset: as the controller decides.',
  ),
  secretName: s.optional(2, s.string(), 'Secret with certificate and key. Unset: TLS is routed by SNI only.'),
});
export type IngressTLS = s.TypeOf<typeof ingressTLS>;

export const httpIngressPath = s.object(
  'io.k8s.api.networking.v1.HTTPIngressPath',
  'Backend of the requests to a path.',
  {
    path: s.optional(1, s.string(), 'The path, beginning with /. Must be given with Exact and Prefix.'),
    pathType: s.required(
      3,
      s.string({ goType: 'v1.PathType' }),
      'Exact; Prefix, element by element; or ImplementationSpecific, as the controller decides.',
      { pointer: true },
    ),
    backend: s.required(2, ingressBackend, 'Backend of the requests.'),
  },
);
export type HTTPIngressPath = s.TypeOf<typeof httpIngressPath>;

export const httpIngressRuleValue = s.object(
  'io.k8s.api.networking.v1.HTTPIngressRuleValue',
  'Backends of the requests to a host.',
  {
    paths: s.required(
      1,
      s.atomicList(httpIngressPath),
      'Backends by path; the longest match wins, Exact before Prefix.',
    ),
  },
);
export type HTTPIngressRuleValue = s.TypeOf<typeof httpIngressRuleValue>;

export const ingressRuleValue = s.object('io.k8s.api.networking.v1.IngressRuleValue', 'Value of a rule; HTTP only.', {
  http: s.pointer(1, httpIngressRuleValue, 'Backends by path. Unset: all requests go to the default backend.'),
});
export type IngressRuleValue = s.TypeOf<typeof ingressRuleValue>;

export const ingressRule = s.object('io.k8s.api.networking.v1.IngressRule', 'Rule for the requests to a host.', {
  host: s.optional(
    1,
    s.string(),
    'Host name, for example shop.example.com or *.example.com; without address and port. Unset: every host.',
  ),
  ingressRuleValue: s.inline(2, ingressRuleValue),
});
export type IngressRule = s.TypeOf<typeof ingressRule>;

export const ingressSpec = s.object('io.k8s.api.networking.v1.IngressSpec', 'Specification of an Ingress.', {
  ingressClassName: s.pointer(4, s.string(), 'Name of the IngressClass. Unset: the default class, if there is one.'),
  defaultBackend: s.pointer(
    1,
    ingressBackend,
    'Backend of requests that match no rule. Required if there are no rules.',
  ),
  tls: s.optional(2, s.atomicList(ingressTLS), 'Hosts served by TLS, on port 443.'),
  rules: s.optional(3, s.atomicList(ingressRule), 'Rules by host.'),
});
export type IngressSpec = s.TypeOf<typeof ingressSpec>;

export const ingressPortStatus = s.object(
  'io.k8s.api.networking.v1.IngressPortStatus',
  'Status of one port of a load balancer.',
  {
    port: s.required(1, s.int32(), 'The port number.'),
    protocol: s.required(2, s.oneOf('v1.Protocol', ['TCP', 'UDP', 'SCTP']), 'TCP, UDP or SCTP.'),
    error: s.pointer(
      3,
      s.string(),
      'Error of the port: a CamelCase word, with a prefix if it is specific to the provider.',
    ),
  },
);
export type IngressPortStatus = s.TypeOf<typeof ingressPortStatus>;

export const ingressLoadBalancerIngress = s.object(
  'io.k8s.api.networking.v1.IngressLoadBalancerIngress',
  'A way into a load balancer.',
  {
    ip: s.optional(1, s.string(), 'IP address, if the load balancer has one.'),
    hostname: s.optional(2, s.string(), 'DNS name, if the load balancer has one.'),
    ports: s.optional(4, s.atomicList(ingressPortStatus), 'Statuses of the ports.'),
  },
);
export type IngressLoadBalancerIngress = s.TypeOf<typeof ingressLoadBalancerIngress>;

export const ingressLoadBalancerStatus = s.object(
  'io.k8s.api.networking.v1.IngressLoadBalancerStatus',
  'Status of a load balancer.',
  {
    ingress: s.optional(1, s.atomicList(ingressLoadBalancerIngress), 'Addresses of the load balancer.'),
  },
);
export type IngressLoadBalancerStatus = s.TypeOf<typeof ingressLoadBalancerStatus>;

export const ingressStatus = s.object('io.k8s.api.networking.v1.IngressStatus', 'Status of an Ingress.', {
  loadBalancer: s.optional(1, ingressLoadBalancerStatus, 'Addresses of the load balancer.'),
});
export type IngressStatus = s.TypeOf<typeof ingressStatus>;

export const ingress = kind(
  'io.k8s.api.networking.v1.Ingress',
  'Leads HTTP requests from outside to Services, by host and path.',
  {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'Ingress',
    plural: 'ingresses',
    scope: 'Namespaced',
    shortNames: ['ing'],
    subresources: ['status'],
    fields: {
      spec: s.optional(2, ingressSpec, 'Specification of the Ingress.'),
      status: s.optional(3, ingressStatus, 'Status of the Ingress.'),
    },
  },
);
export type Ingress = s.TypeOf<typeof ingress>;
