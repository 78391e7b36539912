/**
 * Sets of peer Pods and of named ports, kept up to date Pod by Pod. A set exists while a policy of this node uses it,
 * and policies with equal selectors share it. A changed Pod is compared with the selectors of its own namespace and
 * with those that select by namespace; it touches only the sets that it joins or leaves.
 */
import type { Labels } from '@kruise/machinery/label-selector';
import { contentName, type NftTable } from '../host/nft-table.ts';
import { createElementSet, type ElementSet } from './address-set.ts';
import { type Direction, matchesPodPeer, type PodPeer } from './compiled-policy.ts';
import type { PolicyPod } from './policy-pod.ts';
import type { NamedPortMatch } from './render-policy.ts';
import { createSharedResources } from './shared-resources.ts';

/** Pods and namespaces of the cluster. */
export type PodDirectory = {
  pods(): Iterable<PolicyPod>;
  podsIn(namespace: string): Iterable<PolicyPod>;
  labelsOfNamespace(namespace: string): Labels;
  isLocal(pod: PolicyPod): boolean;
};

export type PeerSets = {
  /** Returns the name of the set of a selector, for one more user. */
  acquirePeers(peer: PodPeer): string;
  releasePeers(peer: PodPeer): void;
  acquirePorts(port: NamedPortMatch, direction: Direction): string;
  releasePorts(port: NamedPortMatch, direction: Direction): void;
  /** Moves a Pod from the sets of its last state to those of its new state. */
  updatePod(previous: PolicyPod | undefined, current: PolicyPod | undefined): void;
  /** Moves the Pods of a namespace whose labels have changed. */
  updateNamespace(namespace: string): void;
};

type PeerSet = { readonly peer: PodPeer; readonly elements: ElementSet; readonly members: Map<string, PolicyPod> };
type PortSet = { readonly direction: Direction; readonly elements: ElementSet };

export function peerSetName(peer: PodPeer): string {
  return contentName('peers', [peer.id]);
}

export function portSetName({ protocol, name }: NamedPortMatch, direction: Direction): string {
  return contentName(`ports-${direction}-${protocol.toLowerCase()}`, [name]);
}

export function createPeerSets(table: NftTable, directory: PodDirectory): PeerSets {
  const shared = createSharedResources<PeerSet>();
  /** Sets of one namespace, and sets that select by namespace under the empty name. */
  const byNamespace = new Map<string, Set<PeerSet>>();
  const sharedPorts = createSharedResources<PortSet>();
  const portSets = new Map<string, Set<PortSet>>();

  const keyOf = ({ namespace, name }: PolicyPod) => `${namespace}/${name}`;
  const join = (set: PeerSet, pod: PolicyPod) => {
    for (const address of pod.addresses) set.elements.add(address, address);
    set.members.set(keyOf(pod), pod);
  };
  const leave = (set: PeerSet, pod: PolicyPod) => {
    for (const address of pod.addresses) set.elements.remove(address, address);
    set.members.delete(keyOf(pod));
  };
  const place = (set: PeerSet, key: string, pod: PolicyPod | undefined, namespaceLabels: Labels) => {
    const member = set.members.get(key);
    const wanted = pod && matchesPodPeer(set.peer, pod, namespaceLabels) ? pod : undefined;
    if (member && wanted && member.addresses.join() === wanted.addresses.join()) {
      set.members.set(key, wanted);
      return;
    }
    // Joining first keeps an address that both states have.
    if (wanted) for (const address of wanted.addresses) set.elements.add(address, address);
    if (member) leave(set, member);
    if (wanted) set.members.set(key, wanted);
  };
  function* setsFor(namespace: string): Generator<PeerSet> {
    yield* byNamespace.get(namespace) ?? [];
    yield* byNamespace.get('') ?? [];
  }
  function* portElements(pod: PolicyPod | undefined): Generator<[PortSet, address: string, key: string]> {
    if (!pod) return;
    for (const { name, protocol, port } of pod.ports) {
      for (const set of portSets.get(`${protocol}/${name}`) ?? []) {
        if (set.direction === 'ingress' && !directory.isLocal(pod)) continue;
        for (const address of pod.addresses) yield [set, address, `${address} . ${port}`];
      }
    }
  }
  const register = <T>(index: Map<string, Set<T>>, key: string, set: T) => {
    const sets = index.get(key) ?? new Set();
    index.set(key, sets.add(set));
    return () => {
      sets.delete(set);
      if (sets.size === 0) index.delete(key);
    };
  };

  return {
    acquirePeers(peer) {
      const name = peerSetName(peer);
      shared.acquire(name, () => {
        const set: PeerSet = { peer, elements: createElementSet(table, name), members: new Map() };
        const unregister = register(byNamespace, peer.namespace ?? '', set);
        const candidates = peer.namespace === undefined ? directory.pods() : directory.podsIn(peer.namespace);
        for (const pod of candidates) {
          if (matchesPodPeer(peer, pod, directory.labelsOfNamespace(pod.namespace))) join(set, pod);
        }
        return {
          value: set,
          release() {
            unregister();
            set.elements.release();
          },
        };
      });
      return name;
    },
    releasePeers: (peer) => shared.release(peerSetName(peer)),
    acquirePorts(port, direction) {
      const name = portSetName(port, direction);
      sharedPorts.acquire(name, () => {
        const set: PortSet = { direction, elements: createElementSet(table, name, ' . inet_service') };
        const unregister = register(portSets, `${port.protocol}/${port.name}`, set);
        for (const pod of directory.pods()) {
          for (const [each, address, key] of portElements(pod)) if (each === set) set.elements.add(address, key);
        }
        return {
          value: set,
          release() {
            unregister();
            set.elements.release();
          },
        };
      });
      return name;
    },
    releasePorts: (port, direction) => sharedPorts.release(portSetName(port, direction)),
    updatePod(previous, current) {
      const pod = current ?? previous;
      if (!pod) return;
      const labels = directory.labelsOfNamespace(pod.namespace);
      for (const set of setsFor(pod.namespace)) place(set, keyOf(pod), current, labels);
      // Elements of the new state first, so that elements of both states stay.
      for (const [{ elements }, address, key] of portElements(current)) elements.add(address, key);
      for (const [{ elements }, address, key] of portElements(previous)) elements.remove(address, key);
    },
    updateNamespace(namespace) {
      const labels = directory.labelsOfNamespace(namespace);
      const sets = byNamespace.get('') ?? [];
      for (const pod of directory.podsIn(namespace)) for (const set of sets) place(set, keyOf(pod), pod, labels);
    },
  };
}
