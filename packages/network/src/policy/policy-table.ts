/**
 * NetworkPolicy of one node as an nftables table. Every state of the cluster has one table; a change of a Pod, a
 * namespace or a policy touches only what depends on it.
 *
 * The filter has three base chains: traffic that is routed passes the egress rules of its source and the ingress rules
 * of its destination, and traffic to the node itself passes the egress rules of its source. Two base chains, because
 * `accept` ends one chain only. The forward hook comes after DNAT and before masquerading: rules see the backend Pod
 * and the address of the client. Traffic from the node itself passes no chain.
 *
 * A verdict map takes the address of a local Pod to the chain of the policies that isolate it. While the cluster has
 * policies, addresses of the node's Pod CIDRs that belong to no known Pod are blocked: an isolated Pod is never open.
 */
import type { Labels } from '@kruise/machinery/label-selector';
import { formatPrefix, type Prefix } from '@kruise/values/address';
import { type Chain, contentName, createNftTable, type NftTable } from '../host/nft-table.ts';
import { createElementSet, familyOf, setName } from './address-set.ts';
import { type CompiledPolicy, type Direction, directions, type PodPeer } from './compiled-policy.ts';
import { ownerOfAddress } from './is-allowed.ts';
import { createPeerSets, peerSetName, portSetName } from './peer-sets.ts';
import { isSamePolicyPod, type PolicyPod } from './policy-pod.ts';
import { type Family, families, headerOf, type NamedPortMatch, renderRules } from './render-policy.ts';
import { createSharedResources } from './shared-resources.ts';

export type PolicyTable = {
  readonly nft: NftTable;
  /** Sets a Pod; undefined removes the Pod, also one that has finished. */
  setPod(key: string, pod: PolicyPod | undefined): void;
  setNamespace(name: string, labels: Labels | undefined): void;
  setPolicy(key: string, policy: CompiledPolicy | undefined): void;
  /** Sets the CIDR blocks of the Pods of this node. */
  setPodCidrs(prefixes: readonly Prefix[]): void;
  /** Returns the number of policies and of isolated Pods of this node by direction. */
  counts(): { readonly policies: number } & Readonly<Record<Direction, number>>;
};

/** Chains that isolate a Pod, by direction. */
type Isolation = Readonly<Record<Direction, string | undefined>>;
const notIsolated: Isolation = { ingress: undefined, egress: undefined };

const filterHook = (hook: string, priority: number) => `type filter hook ${hook} priority ${priority}; policy accept;`;

/** Creates the table of a node. */
export function createPolicyTable(name: string, nodeName: string): PolicyTable {
  const nft = createNftTable(name);
  const pods = new Map<string, PolicyPod>();
  const podsByNamespace = new Map<string, Map<string, PolicyPod>>();
  const namespaces = new Map<string, Labels>();
  const policies = new Map<string, CompiledPolicy>();
  const policiesByNamespace = new Map<string, Map<string, CompiledPolicy>>();
  const isolations = new Map<string, Isolation>();
  const localPodsByAddress = new Map<string, Set<string>>();
  const groups = createSharedResources<string>();
  const policyChains = createSharedResources<string>();
  let podCidrs: readonly Prefix[] = [];

  const isLocal = (pod: PolicyPod) => pod.nodeName === nodeName;
  const podsIn = (namespace: string) => podsByNamespace.get(namespace)?.values() ?? [];
  const labelsOfNamespace = (namespace: string) => namespaces.get(namespace);
  const peerSets = createPeerSets(nft, { pods: () => pods.values(), podsIn, labelsOfNamespace, isLocal });

  const known = createElementSet(nft, 'known');
  for (const family of families) {
    nft.putSet(setName('self', family), { kind: 'set', declaration: `type ipv${family}_addr . ipv${family}_addr;` });
    for (const direction of directions) {
      nft.putSet(setName(direction, family), { kind: 'map', declaration: `type ipv${family}_addr : verdict;` });
    }
  }
  putBaseChains();

  function putBaseChains(): void {
    const hasPolicies = policies.size > 0;
    const put = (chain: string, hook: string, rules: readonly string[]) =>
      nft.putChain(chain, { hook, rules: hasPolicies ? rules : [] });
    const lookup = (direction: Direction) =>
      families.flatMap((family) => {
        const address = `${headerOf(family)} ${direction === 'ingress' ? 'daddr' : 'saddr'}`;
        return [`${address} vmap @${setName(direction, family)}`, ...unknownPods(address, family)];
      });
    const replies = 'ct state established,related accept';
    const self = families.map((family) => {
      const header = headerOf(family);
      return `${header} saddr . ${header} daddr @${setName('self', family)} accept`;
    });
    put('forward-egress', filterHook('forward', -2), [replies, ...self, ...lookup('egress')]);
    put('forward-ingress', filterHook('forward', -1), [replies, ...self, ...lookup('ingress')]);
    put('input-egress', filterHook('input', -2), [
      replies,
      'iif lo accept',
      // Without neighbour discovery, a Pod could not even receive probes over IPv6.
      'icmpv6 type { nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert } accept',
      ...lookup('egress'),
    ]);
  }

  function unknownPods(address: string, family: Family): readonly string[] {
    const own = podCidrs.filter((each) => each.address.family === family).map(formatPrefix);
    if (own.length === 0) return [];
    return [`${address} { ${own.join(', ')} } ${address} != @${setName('known', family)} drop`];
  }

  /** Acquires the chain of one policy and the sets it refers to. */
  function acquirePolicyChain(policy: CompiledPolicy, direction: Direction): string {
    const rules = policy.rules[direction] ?? [];
    const lines = renderRules(rules, direction, {
      peers: (peer, family) => setName(peerSetName(peer), family),
      ports: (port, at, family) => setName(portSetName(port, at), family),
    });
    return policyChains.acquire(contentName(`policy-${direction}`, lines), () => {
      const chain = contentName(`policy-${direction}`, lines);
      const peers: readonly PodPeer[] = rules.flatMap((rule) => rule.peers?.pods ?? []);
      const ports = rules.flatMap((rule) => rule.ports ?? []).filter((port): port is NamedPortMatch => 'name' in port);
      for (const peer of peers) peerSets.acquirePeers(peer);
      for (const port of ports) peerSets.acquirePorts(port, direction);
      nft.putChain(chain, { rules: lines });
      return {
        value: chain,
        release() {
          nft.removeChain(chain);
          for (const peer of peers) peerSets.releasePeers(peer);
          for (const port of ports) peerSets.releasePorts(port, direction);
        },
      };
    });
  }

  /** Acquires the chain of the policies that isolate a Pod together: what none of them accepts is dropped. */
  function acquireGroup(selecting: readonly CompiledPolicy[], direction: Direction): string | undefined {
    const isolating = selecting.filter(({ rules }) => rules[direction]);
    if (isolating.length === 0) return undefined;
    const chains = isolating.map((policy) => acquirePolicyChain(policy, direction));
    const content: Chain = {
      rules: [...isolating.map((policy, at) => `jump ${chains[at]} comment "${commentOf(policy)}"`), 'drop'],
    };
    const group = contentName(`pods-${direction}`, content.rules);
    let isNew = false;
    groups.acquire(group, () => {
      isNew = true;
      nft.putChain(group, content);
      return {
        value: group,
        release() {
          nft.removeChain(group);
          for (const chain of chains) policyChains.release(chain);
        },
      };
    });
    if (!isNew) for (const chain of chains) policyChains.release(chain);
    return group;
  }

  /** Brings the chains of a local Pod and the verdicts of its addresses up to date. */
  function refreshIsolation(key: string): void {
    const pod = pods.get(key);
    const previous = isolations.get(key) ?? notIsolated;
    let next = notIsolated;
    if (pod && isLocal(pod)) {
      const selecting = [...(policiesByNamespace.get(pod.namespace) ?? [])]
        .filter(([, { selector }]) => selector.matches(pod.labels))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, policy]) => policy);
      next = { ingress: acquireGroup(selecting, 'ingress'), egress: acquireGroup(selecting, 'egress') };
      isolations.set(key, next);
      for (const address of pod.addresses) refreshAddress(address);
    } else isolations.delete(key);
    for (const direction of directions) if (previous[direction]) groups.release(previous[direction]);
  }

  /** Sets the verdicts of an address to those of the Pod that has it. */
  function refreshAddress(address: string): void {
    const family = familyOf(address);
    const claimants = [...(localPodsByAddress.get(address) ?? [])];
    const owner = ownerOfAddress(claimants.flatMap((key) => pods.get(key) ?? []));
    const isolation = (owner && isolations.get(`${owner.namespace}/${owner.name}`)) ?? notIsolated;
    for (const direction of directions) {
      const chain = isolation[direction];
      if (chain) nft.putElement(setName(direction, family), address, `goto ${chain}`);
      else nft.removeElement(setName(direction, family), address);
    }
    const pair = `${address} . ${address}`;
    if (owner) nft.putElement(setName('self', family), pair);
    else nft.removeElement(setName('self', family), pair);
  }

  function claimAddresses(key: string, pod: PolicyPod): void {
    for (const address of pod.addresses) {
      known.add(address, address);
      localPodsByAddress.set(address, (localPodsByAddress.get(address) ?? new Set()).add(key));
    }
  }

  function releaseAddresses(key: string, pod: PolicyPod): void {
    for (const address of pod.addresses) {
      known.remove(address, address);
      const claimants = localPodsByAddress.get(address);
      claimants?.delete(key);
      if (claimants?.size === 0) localPodsByAddress.delete(address);
    }
  }

  return {
    nft,
    setPod(key, pod) {
      const previous = pods.get(key);
      if (isSamePolicyPod(previous, pod)) return;
      const namespace = (pod ?? previous)?.namespace ?? '';
      const own = podsByNamespace.get(namespace) ?? new Map<string, PolicyPod>();
      if (pod) {
        pods.set(key, pod);
        podsByNamespace.set(namespace, own.set(key, pod));
      } else {
        pods.delete(key);
        own.delete(key);
        if (own.size === 0) podsByNamespace.delete(namespace);
      }
      peerSets.updatePod(previous, pod);
      const wasLocal = previous && isLocal(previous);
      const isNowLocal = pod && isLocal(pod);
      // The new state claims its addresses first, so that an unchanged address stays known throughout.
      if (isNowLocal) claimAddresses(key, pod);
      if (wasLocal) releaseAddresses(key, previous);
      if (isNowLocal) {
        for (const address of pod.addresses) {
          localPodsByAddress.set(address, (localPodsByAddress.get(address) ?? new Set()).add(key));
        }
      }
      if (wasLocal || isNowLocal) refreshIsolation(key);
      if (wasLocal) for (const address of previous.addresses) refreshAddress(address);
    },
    setNamespace(namespace, labels) {
      if (JSON.stringify(namespaces.get(namespace)) === JSON.stringify(labels)) return;
      if (labels) namespaces.set(namespace, labels);
      else namespaces.delete(namespace);
      peerSets.updateNamespace(namespace);
    },
    setPolicy(key, policy) {
      const previous = policies.get(key);
      const hadPolicies = policies.size > 0;
      const namespace = (policy ?? previous)?.namespace ?? '';
      const own = policiesByNamespace.get(namespace) ?? new Map<string, CompiledPolicy>();
      if (policy) {
        policies.set(key, policy);
        policiesByNamespace.set(namespace, own.set(key, policy));
      } else {
        policies.delete(key);
        own.delete(key);
        if (own.size === 0) policiesByNamespace.delete(namespace);
      }
      if (hadPolicies !== policies.size > 0) putBaseChains();
      for (const pod of podsIn(namespace)) {
        if (!isLocal(pod)) continue;
        const wasSelected = previous?.selector.matches(pod.labels);
        if (wasSelected || policy?.selector.matches(pod.labels)) refreshIsolation(`${pod.namespace}/${pod.name}`);
      }
    },
    setPodCidrs(prefixes) {
      if (prefixes.map(formatPrefix).join() === podCidrs.map(formatPrefix).join()) return;
      podCidrs = prefixes;
      putBaseChains();
    },
    counts() {
      const count = (direction: Direction) => [...isolations.values()].filter((each) => each[direction]).length;
      return { policies: policies.size, ingress: count('ingress'), egress: count('egress') };
    },
  };
}

/** Returns the name of a policy as a comment, which nftables limits to 128 bytes. */
function commentOf({ namespace, name }: CompiledPolicy): string {
  return `${namespace}/${name}`.replaceAll(/[^\w./-]/g, '_').slice(0, 127);
}
