import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const networkPolicyPort = s.object(
  'io.k8s.api.networking.v1.NetworkPolicyPort',
  'Ports to which traffic is permitted.',
  {
    protocol: s.pointer(1, s.oneOf('v1.Protocol', ['TCP', 'UDP', 'SCTP']), 'TCP (the default), UDP or SCTP.'),
    port: s.pointer(2, s.intOrString(), 'A number, or the name of a container port. Unset: all.'),
    endPort: s.pointer(3, s.int32(), 'The last port of a range that begins with port, which must then be a number.'),
  },
);
export type NetworkPolicyPort = s.TypeOf<typeof networkPolicyPort>;

export const ipBlock = s.object('io.k8s.api.networking.v1.IPBlock', 'A range of addresses.', {
  cidr: s.required(1, s.string(), 'The range, such as 192.168.1.0/24 or 2001:db8::/64.'),
  except: s.optional(2, s.atomicList(s.string()), 'Excluded ranges within the CIDR.'),
});
export type IPBlock = s.TypeOf<typeof ipBlock>;

export const networkPolicyPeer = s.object(
  'io.k8s.api.networking.v1.NetworkPolicyPeer',
  'A peer: one of the forms, or both selectors together.',
  {
    podSelector: s.pointer(
      1,
      labelSelector,
      'Label selector of Pods in the namespace of the policy, or in those of namespaceSelector. Empty: all.',
    ),
    namespaceSelector: s.pointer(2, labelSelector, 'Namespaces by label. Empty: all.'),
    ipBlock: s.pointer(3, ipBlock, 'Addresses. Not together with the selectors.'),
  },
);
export type NetworkPolicyPeer = s.TypeOf<typeof networkPolicyPeer>;

export const networkPolicyIngressRule = s.object(
  'io.k8s.api.networking.v1.NetworkPolicyIngressRule',
  'Traffic that may come in: from any of these, to any of these ports.',
  {
    ports: s.optional(1, s.atomicList(networkPolicyPort), 'To which ports. Empty: all.'),
    from: s.optional(2, s.atomicList(networkPolicyPeer), 'Sources. Empty: all.'),
  },
);
export type NetworkPolicyIngressRule = s.TypeOf<typeof networkPolicyIngressRule>;

export const networkPolicyEgressRule = s.object(
  'io.k8s.api.networking.v1.NetworkPolicyEgressRule',
  'Permitted outgoing traffic: to any of these peers, to any of these ports.',
  {
    ports: s.optional(1, s.atomicList(networkPolicyPort), 'To which ports. Empty: all.'),
    to: s.optional(2, s.atomicList(networkPolicyPeer), 'Destinations. Empty: all.'),
  },
);
export type NetworkPolicyEgressRule = s.TypeOf<typeof networkPolicyEgressRule>;

export const networkPolicySpec = s.object(
  'io.k8s.api.networking.v1.NetworkPolicySpec',
  'Specification: selected Pods and permitted traffic.',
  {
    podSelector: s.required(
      1,
      labelSelector,
      'Label selector of the Pods in the same namespace to which the policy applies. Empty: all. Policies are additive.',
    ),
    ingress: s.optional(
      2,
      s.atomicList(networkPolicyIngressRule),
      'Permitted incoming traffic: traffic that any of the rules allows. Empty: none, if policyTypes contains Ingress.',
    ),
    egress: s.optional(
      3,
      s.atomicList(networkPolicyEgressRule),
      'Permitted outgoing traffic: traffic that any of the rules allows. Empty: none, if policyTypes contains Egress.',
    ),
    policyTypes: s.optional(
      4,
      s.atomicList(s.oneOf('v1.PolicyType', ['Ingress', 'Egress'])),
      'Restricted directions: Ingress, Egress or both. Default: Ingress, and Egress if there are egress rules.',
    ),
  },
);
export type NetworkPolicySpec = s.TypeOf<typeof networkPolicySpec>;

export const networkPolicy = kind(
  'io.k8s.api.networking.v1.NetworkPolicy',
  'NetworkPolicy restricts the traffic to and from Pods. Pods without a policy are not restricted.',
  {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    scope: 'Namespaced',
    shortNames: ['netpol'],
    fields: {
      spec: s.optional(2, networkPolicySpec, 'Specification: selected Pods and permitted traffic.'),
    },
  },
);
export type NetworkPolicy = s.TypeOf<typeof networkPolicy>;
