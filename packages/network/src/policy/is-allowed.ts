/**
 * NetworkPolicy of one connection, as a pure function: the definition that the simulated network evaluates and the
 * kernel's rules are tested against. Addresses are those after Service routing: the source of the connection and the
 * backend Pod.
 */
import type { Labels } from '@kruise/machinery/label-selector';
import { type Address, formatAddress, parseLegacyAddress, unmap } from '@kruise/values/address';
import {
  type CompiledPolicy,
  type Direction,
  matchesBlock,
  matchesPodPeer,
  type PolicyRule,
  type Protocol,
} from './compiled-policy.ts';
import { compareOwners, type PolicyPod } from './policy-pod.ts';

/** State of the cluster, as far as policies depend on it. */
export type PolicyView = {
  /** Returns the Pod that has an address. */
  podAt(address: string): PolicyPod | undefined;
  /** Returns the policies of a namespace. */
  policiesIn(namespace: string): readonly CompiledPolicy[];
  labelsOfNamespace(namespace: string): Labels;
  /** Reports whether an address belongs to a node. */
  isAddressOfNode(address: string, nodeName: string): boolean;
};

export type Connection = {
  readonly source: string;
  readonly destination: string;
  readonly protocol: Protocol;
  readonly port: number;
};

/** Reports whether policies allow a connection: egress at the source and ingress at the destination. */
export function isAllowed(view: PolicyView, connection: Connection): boolean {
  return isEgressAllowed(view, connection) && isIngressAllowed(view, connection);
}

/** Reports whether the policies of the source Pod allow a connection. */
export function isEgressAllowed(view: PolicyView, connection: Connection): boolean {
  return isDirectionAllowed(view, connection, 'egress');
}

/** Reports whether the policies of the destination Pod allow a connection. */
export function isIngressAllowed(view: PolicyView, connection: Connection): boolean {
  return isDirectionAllowed(view, connection, 'ingress');
}

function isDirectionAllowed(view: PolicyView, connection: Connection, direction: Direction): boolean {
  const source = readAddress(connection.source);
  const destination = readAddress(connection.destination);
  if (!source || !destination) return true;
  const [own, peer] = direction === 'ingress' ? [destination, source] : [source, destination];
  const ownText = formatAddress(own);
  const peerText = formatAddress(peer);
  if (ownText === peerText) return true;
  const pod = view.podAt(ownText);
  if (!pod) return true;
  // Probes of the kubelet must reach every Pod of the node.
  if (direction === 'ingress' && view.isAddressOfNode(peerText, pod.nodeName)) return true;
  const isolating = view
    .policiesIn(pod.namespace)
    .flatMap(({ selector, rules }) => (selector.matches(pod.labels) ? [rules[direction]] : []))
    .filter((rules) => rules !== undefined);
  if (isolating.length === 0) return true;
  const peerPod = view.podAt(peerText);
  const server = direction === 'ingress' ? pod : peerPod;
  return isolating
    .flat()
    .some((rule) => matchesPorts(rule, connection, server) && matchesPeers(view, rule, peer, peerPod));
}

function matchesPeers(view: PolicyView, { peers }: PolicyRule, address: Address, pod: PolicyPod | undefined): boolean {
  if (!peers) return true;
  if (peers.blocks.some((block) => matchesBlock(block, address))) return true;
  return (
    pod !== undefined && peers.pods.some((each) => matchesPodPeer(each, pod, view.labelsOfNamespace(pod.namespace)))
  );
}

/** Matches the port; a name means the port of that name of the Pod that serves the connection. */
function matchesPorts({ ports }: PolicyRule, { protocol, port }: Connection, server: PolicyPod | undefined): boolean {
  if (!ports) return true;
  return ports.some((match) => {
    if (match.protocol !== protocol) return false;
    if (!('name' in match)) return match.from <= port && port <= match.to;
    return server?.ports.some((each) => each.name === match.name && each.protocol === protocol && each.port === port);
  });
}

function readAddress(text: string): Address | undefined {
  const address = parseLegacyAddress(text);
  return address && unmap(address);
}

/** Chooses the Pod that has an address among those that claim it. */
export function ownerOfAddress(pods: readonly PolicyPod[]): PolicyPod | undefined {
  return pods.length < 2 ? pods[0] : pods.toSorted(compareOwners)[0];
}
