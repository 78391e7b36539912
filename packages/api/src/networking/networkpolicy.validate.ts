import { type Cause, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { contains, unmapPrefix } from '@kruise/values/address';
import { validatePortName, validatePortNumber } from '@kruise/values/names';
import { cidrWarnings, legacyPrefixOf, validateLegacyCIDR } from '../meta/address.validate.ts';
import { invalidBare } from '../meta/go-value.ts';
import { validateLabelSelector } from '../meta/label-selector.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { refusals } from '../meta/value.validate.ts';
import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from './networkpolicy.ts';

const protocols = ['TCP', 'UDP', 'SCTP'];
const policyTypes = ['Ingress', 'Egress'];

export function* validateNetworkPolicy({ metadata, spec }: NetworkPolicy): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  if (spec) yield* validateSpec(spec, []);
}

export function* validateNetworkPolicyUpdate({ metadata, spec }: NetworkPolicy, old: NetworkPolicy): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  const known = peersOf(old.spec).flatMap(({ peer }) =>
    peer.ipBlock ? [peer.ipBlock.cidr, ...(peer.ipBlock.except ?? [])] : [],
  );
  if (spec) yield* validateSpec(spec, known);
}

type Rule = { readonly path: string; readonly ports: readonly NetworkPolicyPort[]; readonly peers: readonly Peer[] };
type Peer = { readonly path: string; readonly peer: NetworkPolicyPeer };

function rulesOf({ ingress = [], egress = [] }: NetworkPolicySpec): readonly Rule[] {
  const ruleOf = (
    path: string,
    ports: Rule['ports'] | undefined,
    peers: readonly NetworkPolicyPeer[] = [],
    side: string,
  ) => ({
    path,
    ports: ports ?? [],
    peers: peers.map((peer, index) => ({ path: `${path}.${side}[${index}]`, peer })),
  });
  return [
    ...ingress.map(({ ports, from }, index) => ruleOf(`spec.ingress[${index}]`, ports, from, 'from')),
    ...egress.map(({ ports, to }, index) => ruleOf(`spec.egress[${index}]`, ports, to, 'to')),
  ];
}

function peersOf(spec: NetworkPolicySpec | undefined): readonly Peer[] {
  return spec ? rulesOf(spec).flatMap(({ peers }) => peers) : [];
}

function* validateSpec(spec: NetworkPolicySpec, knownBlocks: readonly string[]): Generator<Cause> {
  yield* validateLabelSelector(spec.podSelector, 'spec.podSelector');
  for (const { path, ports, peers } of rulesOf(spec)) {
    for (const [index, port] of ports.entries()) yield* validatePort(port, `${path}.ports[${index}]`);
    for (const { path: at, peer } of peers) yield* validatePeer(peer, knownBlocks, at);
  }
  const types = spec.policyTypes ?? [];
  if (types.length > policyTypes.length) {
    const shown = `[]networking.PolicyType{${types.map((type) => JSON.stringify(type)).join(', ')}}`;
    return yield invalidBare('spec.policyTypes', shown, 'may not specify more than two policyTypes');
  }
  for (const [index, type] of types.entries()) {
    if (!policyTypes.includes(type)) yield notSupported(`spec.policyTypes[${index}]`, type, policyTypes);
  }
}

function* validatePort({ protocol, port, endPort }: NetworkPolicyPort, path: string): Generator<Cause> {
  if (protocol !== undefined && !protocols.includes(protocol)) {
    yield notSupported(`${path}.protocol`, protocol, protocols);
  }
  if (port === undefined) {
    if (endPort !== undefined) {
      yield invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is not specified');
    }
  } else if (typeof port === 'string') {
    if (endPort !== undefined) {
      yield invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is non-numeric');
    }
    yield* refusals(`${path}.port`, port, validatePortName(port));
  } else {
    yield* refusals(`${path}.port`, port, validatePortNumber(port));
    if (endPort === undefined) return;
    if (endPort < port) yield invalid(`${path}.endPort`, port, 'must be greater than or equal to `port`');
    yield* refusals(`${path}.endPort`, endPort, validatePortNumber(endPort));
  }
}

function* validatePeer(peer: NetworkPolicyPeer, knownBlocks: readonly string[], path: string): Generator<Cause> {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  yield* validateLabelSelector(podSelector, `${path}.podSelector`);
  yield* validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`);
  if (ipBlock) yield* validateBlock(ipBlock, knownBlocks, `${path}.ipBlock`);
  if (!podSelector && !namespaceSelector && !ipBlock) yield required(path, 'must specify a peer');
  else if (ipBlock && (podSelector || namespaceSelector)) {
    yield forbidden(path, 'may not specify both ipBlock and another peer');
  }
}

function* validateBlock(
  { cidr, except = [] }: IPBlock,
  knownBlocks: readonly string[],
  path: string,
): Generator<Cause> {
  if (!cidr) return yield required(`${path}.cidr`);
  yield* validateLegacyCIDR(cidr, `${path}.cidr`, knownBlocks);
  const outer = legacyPrefixOf(cidr);
  if (!outer) return;
  for (const [index, text] of except.entries()) {
    const at = `${path}.except[${index}]`;
    yield* validateLegacyCIDR(text, at, knownBlocks);
    const inner = legacyPrefixOf(text);
    if (!inner) continue;
    const [block, part] = [unmapPrefix(outer), unmapPrefix(inner)];
    if (!contains(block, part.address) || block.length >= part.length) {
      yield invalid(at, text, 'must be a strict subset of `cidr`');
    }
  }
}

export function* networkPolicyWarnings({ spec }: NetworkPolicy): Generator<string> {
  for (const { path, peer } of peersOf(spec)) {
    if (!peer.ipBlock) continue;
    yield* cidrWarnings(peer.ipBlock.cidr, `${path}.ipBlock.cidr`);
    for (const [index, text] of (peer.ipBlock.except ?? []).entries()) {
      yield* cidrWarnings(text, `${path}.ipBlock.except[${index}]`);
    }
  }
}
