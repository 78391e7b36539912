/**
 * NetworkPolicies in the form in which they are evaluated and rendered: selectors compiled, CIDR blocks parsed,
 * defaults applied. A policy that is invalid in part (the API server admits none) allows less, never more.
 */
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '@kruise/api/networking/networkpolicy';
import { type LabelSelector, type Labels, nothing, type Selector, selectorOf } from '@kruise/machinery/label-selector';
import {
  type Address,
  contains,
  containsPrefix,
  maskPrefix,
  type Prefix,
  parseLegacyPrefix,
  unmapPrefix,
} from '@kruise/values/address';
import { ParseError } from '@kruise/values/parse-error';

export type Protocol = 'TCP' | 'UDP' | 'SCTP';
export type Direction = 'ingress' | 'egress';
export const directions: readonly Direction[] = ['ingress', 'egress'];

/** Selector of peer Pods: in one namespace, or in all namespaces whose labels match. */
export type PodPeer = {
  /** Equal for equal selectors, whichever policies they are in. */
  readonly id: string;
  readonly namespace?: string;
  readonly namespaces?: Selector;
  readonly pods: Selector;
};

/** CIDR block without some blocks inside of it. */
export type BlockPeer = { readonly cidr: Prefix; readonly except: readonly Prefix[] };

export type PortMatch =
  | { readonly protocol: Protocol; readonly from: number; readonly to: number }
  | { readonly protocol: Protocol; readonly name: string };

/** A rule allows traffic with any of the peers on any of the ports; without a list, with all. */
export type PolicyRule = {
  readonly peers?: { readonly pods: readonly PodPeer[]; readonly blocks: readonly BlockPeer[] };
  readonly ports?: readonly PortMatch[];
};

export type CompiledPolicy = {
  readonly namespace: string;
  readonly name: string;
  readonly selector: Selector;
  /** Rules of the directions in which the policy isolates the selected Pods. */
  readonly rules: Readonly<Partial<Record<Direction, readonly PolicyRule[]>>>;
};

const lastPort = 65_535;

/** Compiles a NetworkPolicy. */
export function compilePolicy({ metadata, spec }: NetworkPolicy): CompiledPolicy {
  const { namespace = '', name = '' } = metadata;
  // Objects that bypassed defaulting have no policyTypes.
  const types = spec?.policyTypes?.length
    ? spec.policyTypes
    : ['Ingress', ...((spec?.egress?.length ?? 0) > 0 ? ['Egress'] : [])];
  const compileRule = (
    ports: readonly NetworkPolicyPort[] | undefined,
    peers: readonly NetworkPolicyPeer[] | undefined,
  ): PolicyRule => ({
    ...(peers?.length ? { peers: compilePeers(namespace, peers) } : {}),
    ...(ports?.length ? { ports: ports.flatMap(compilePort) } : {}),
  });
  return {
    namespace,
    name,
    selector: compileSelector(spec?.podSelector ?? {}),
    rules: {
      ...(types.includes('Ingress')
        ? { ingress: (spec?.ingress ?? []).map(({ ports, from }) => compileRule(ports, from)) }
        : {}),
      ...(types.includes('Egress')
        ? { egress: (spec?.egress ?? []).map(({ ports, to }) => compileRule(ports, to)) }
        : {}),
    },
  };
}

function compilePeers(namespace: string, peers: readonly NetworkPolicyPeer[]): NonNullable<PolicyRule['peers']> {
  const pods: PodPeer[] = [];
  const blocks: BlockPeer[] = [];
  for (const { ipBlock, podSelector, namespaceSelector } of peers) {
    if (ipBlock) {
      const cidr = compileBlock(ipBlock.cidr);
      const except = (ipBlock.except ?? []).map(compileBlock);
      // An invalid exception could be any part of the block.
      if (cidr && except.every((each) => each !== undefined)) blocks.push({ cidr, except: removeNested(except) });
      continue;
    }
    const selected = compileSelector(podSelector ?? {});
    if (namespaceSelector) {
      const namespaces = compileSelector(namespaceSelector);
      if (selected === nothing || namespaces === nothing) continue;
      pods.push({ id: `in ${namespaces.text}\n${selected.text}`, namespaces, pods: selected });
    } else if (podSelector && selected !== nothing) {
      pods.push({ id: `of ${namespace}\n${selected.text}`, namespace, pods: selected });
    }
  }
  return { pods, blocks };
}

function compilePort({ protocol = 'TCP', port, endPort }: NetworkPolicyPort): readonly PortMatch[] {
  if (port === undefined || port === null) return [{ protocol, from: 0, to: lastPort }];
  if (typeof port === 'string') return [{ protocol, name: port }];
  const to = endPort ?? port;
  return port >= 0 && to >= port && to <= lastPort ? [{ protocol, from: port, to }] : [];
}

function compileSelector(selector: LabelSelector): Selector {
  try {
    return selectorOf(selector);
  } catch (error) {
    if (error instanceof ParseError) return nothing;
    throw error;
  }
}

function compileBlock(text: string): Prefix | undefined {
  try {
    return maskPrefix(unmapPrefix(parseLegacyPrefix(text)));
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

/** Removes blocks that are inside of another one, and duplicates. */
export function removeNested(prefixes: readonly Prefix[]): readonly Prefix[] {
  const kept: Prefix[] = [];
  for (const prefix of prefixes.toSorted((a, b) => a.length - b.length)) {
    if (!kept.some((outer) => containsPrefix(outer, prefix))) kept.push(prefix);
  }
  return kept;
}

/** Reports whether a block peer contains an address. */
export function matchesBlock({ cidr, except }: BlockPeer, address: Address): boolean {
  return contains(cidr, address) && !except.some((each) => contains(each, address));
}

/** Reports whether a Pod peer selects the Pods of a namespace with these labels. */
export function matchesPodPeer(
  { namespace, namespaces, pods }: PodPeer,
  pod: { readonly namespace: string; readonly labels: Labels },
  namespaceLabels: Labels,
): boolean {
  const isInNamespace = namespaces ? namespaces.matches(namespaceLabels) : namespace === pod.namespace;
  return isInNamespace && pods.matches(pod.labels);
}
