import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const networkPolicyPort = s.object('io.k8s.api.networking.v1.NetworkPolicyPort', '', {
  protocol: s.pointer(1, s.oneOf('v1.Protocol', ['TCP', 'UDP', 'SCTP']), ''),
  port: s.pointer(2, s.intOrString(), ''),
  endPort: s.pointer(3, s.int32(), ''),
});
export type NetworkPolicyPort = s.TypeOf<typeof networkPolicyPort>;

export const ipBlock = s.object('io.k8s.api.networking.v1.IPBlock', '', {
  cidr: s.required(1, s.string(), ''),
  except: s.optional(2, s.atomicList(s.string()), ''),
});
export type IPBlock = s.TypeOf<typeof ipBlock>;

export const networkPolicyPeer = s.object('io.k8s.api.networking.v1.NetworkPolicyPeer', '', {
  podSelector: s.pointer(1, labelSelector, ''),
  namespaceSelector: s.pointer(2, labelSelector, ''),
  ipBlock: s.pointer(3, ipBlock, ''),
});
export type NetworkPolicyPeer = s.TypeOf<typeof networkPolicyPeer>;

export const networkPolicyIngressRule = s.object('io.k8s.api.networking.v1.NetworkPolicyIngressRule', '', {
  ports: s.optional(1, s.atomicList(networkPolicyPort), ''),
  from: s.optional(2, s.atomicList(networkPolicyPeer), ''),
});
export type NetworkPolicyIngressRule = s.TypeOf<typeof networkPolicyIngressRule>;

export const networkPolicyEgressRule = s.object('io.k8s.api.networking.v1.NetworkPolicyEgressRule', '', {
  ports: s.optional(1, s.atomicList(networkPolicyPort), ''),
  to: s.optional(2, s.atomicList(networkPolicyPeer), ''),
});
export type NetworkPolicyEgressRule = s.TypeOf<typeof networkPolicyEgressRule>;

export const networkPolicySpec = s.object('io.k8s.api.networking.v1.NetworkPolicySpec', '', {
  podSelector: s.required(1, labelSelector, ''),
  ingress: s.optional(2, s.atomicList(networkPolicyIngressRule), ''),
  egress: s.optional(3, s.atomicList(networkPolicyEgressRule), ''),
  policyTypes: s.optional(4, s.atomicList(s.oneOf('v1.PolicyType', ['Ingress', 'Egress'])), ''),
});
export type NetworkPolicySpec = s.TypeOf<typeof networkPolicySpec>;

export const networkPolicy = kind('io.k8s.api.networking.v1.NetworkPolicy', '', {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  scope: 'Namespaced',
  shortNames: ['netpol'],
  fields: {
    spec: s.optional(2, networkPolicySpec, ''),
  },
});
export type NetworkPolicy = s.TypeOf<typeof networkPolicy>;
