import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { typedLocalObjectReference } from '../core/reference.ts';

export const serviceBackendPort = s.object('io.k8s.api.networking.v1.ServiceBackendPort', '', {
  name: s.optional(1, s.string(), ''),
  number: s.optional(2, s.int32(), ''),
}, { mapType: 'atomic' });
export type ServiceBackendPort = s.TypeOf<typeof serviceBackendPort>;

export const ingressServiceBackend = s.object('io.k8s.api.networking.v1.IngressServiceBackend', '', {
  name: s.required(1, s.string(), ''),
  port: s.optional(2, serviceBackendPort, ''),
});
export type IngressServiceBackend = s.TypeOf<typeof ingressServiceBackend>;

export const ingressBackend = s.object('io.k8s.api.networking.v1.IngressBackend', '', {
  service: s.pointer(4, ingressServiceBackend, ''),
  resource: s.pointer(3, typedLocalObjectReference, ''),
});
export type IngressBackend = s.TypeOf<typeof ingressBackend>;

export const ingressTLS = s.object('io.k8s.api.networking.v1.IngressTLS', '', {
  hosts: s.optional(1, s.atomicList(s.string()), ''),
  secretName: s.optional(2, s.string(), ''),
});
export type IngressTLS = s.TypeOf<typeof ingressTLS>;

export const httpIngressPath = s.object('io.k8s.api.networking.v1.HTTPIngressPath', '', {
  path: s.optional(1, s.string(), ''),
  pathType: s.required(3, s.string({ goType: 'v1.PathType' }), '', { pointer: true }),
  backend: s.required(2, ingressBackend, ''),
});
export type HTTPIngressPath = s.TypeOf<typeof httpIngressPath>;

export const httpIngressRuleValue = s.object('io.k8s.api.networking.v1.HTTPIngressRuleValue', '', {
  paths: s.required(1, s.atomicList(httpIngressPath), ''),
});
export type HTTPIngressRuleValue = s.TypeOf<typeof httpIngressRuleValue>;

export const ingressRuleValue = s.object('io.k8s.api.networking.v1.IngressRuleValue', '', {
  http: s.pointer(1, httpIngressRuleValue, ''),
});
export type IngressRuleValue = s.TypeOf<typeof ingressRuleValue>;

export const ingressRule = s.object('io.k8s.api.networking.v1.IngressRule', '', {
  host: s.optional(1, s.string(), ''),
  ingressRuleValue: s.inline(2, ingressRuleValue),
});
export type IngressRule = s.TypeOf<typeof ingressRule>;

export const ingressSpec = s.object('io.k8s.api.networking.v1.IngressSpec', '', {
  ingressClassName: s.pointer(4, s.string(), ''),
  defaultBackend: s.pointer(1, ingressBackend, ''),
  tls: s.optional(2, s.atomicList(ingressTLS), ''),
  rules: s.optional(3, s.atomicList(ingressRule), ''),
});
export type IngressSpec = s.TypeOf<typeof ingressSpec>;

export const ingressPortStatus = s.object('io.k8s.api.networking.v1.IngressPortStatus', '', {
  port: s.required(1, s.int32(), ''),
  protocol: s.required(2, s.oneOf('v1.Protocol', ['TCP', 'UDP', 'SCTP']), ''),
  error: s.pointer(3, s.string(), ''),
});
export type IngressPortStatus = s.TypeOf<typeof ingressPortStatus>;

export const ingressLoadBalancerIngress = s.object('io.k8s.api.networking.v1.IngressLoadBalancerIngress', '', {
  ip: s.optional(1, s.string(), ''),
  hostname: s.optional(2, s.string(), ''),
  ports: s.optional(4, s.atomicList(ingressPortStatus), ''),
});
export type IngressLoadBalancerIngress = s.TypeOf<typeof ingressLoadBalancerIngress>;

export const ingressLoadBalancerStatus = s.object('io.k8s.api.networking.v1.IngressLoadBalancerStatus', '', {
  ingress: s.optional(1, s.atomicList(ingressLoadBalancerIngress), ''),
});
export type IngressLoadBalancerStatus = s.TypeOf<typeof ingressLoadBalancerStatus>;

export const ingressStatus = s.object('io.k8s.api.networking.v1.IngressStatus', '', {
  loadBalancer: s.optional(1, ingressLoadBalancerStatus, ''),
});
export type IngressStatus = s.TypeOf<typeof ingressStatus>;

export const ingress = kind('io.k8s.api.networking.v1.Ingress', '', {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  plural: 'ingresses',
  scope: 'Namespaced',
  shortNames: ['ing'],
  subresources: ['status'],
  fields: {
    spec: s.optional(2, ingressSpec, ''),
    status: s.optional(3, ingressStatus, ''),
  },
});
export type Ingress = s.TypeOf<typeof ingress>;
