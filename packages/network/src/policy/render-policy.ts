/** NetworkPolicy rules as rules of nftables. A rule without a match for its family does not see the other family. */
import { containsPrefix, formatPrefix, type Prefix } from '@kruise/values/address';
import {
  type BlockPeer,
  type Direction,
  type PodPeer,
  type PolicyRule,
  type PortMatch,
  type Protocol,
  removeNested,
} from './compiled-policy.ts';

export type Family = 4 | 6;
export const families: readonly Family[] = [4, 6];

/** Names of the sets that rules refer to. */
export type SetNames = {
  readonly peers: (peer: PodPeer, family: Family) => string;
  readonly ports: (port: NamedPortMatch, direction: Direction, family: Family) => string;
};

export type NamedPortMatch = Extract<PortMatch, { readonly name: string }>;

/** Part of a rule; without a family it matches packets of both. */
type Match = { readonly family?: Family; readonly text: string };

/** Keyword of the network header. */
export function headerOf(family: Family): 'ip' | 'ip6' {
  return family === 4 ? 'ip' : 'ip6';
}

/** Renders the rules of a policy in one direction; each accepts what one rule allows. */
export function renderRules(rules: readonly PolicyRule[], direction: Direction, names: SetNames): readonly string[] {
  return rules.flatMap(({ peers, ports }) => {
    const peerMatches = peers ? renderPeers(peers, direction, names) : [{ text: '' }];
    const portMatches = ports ? renderPorts(ports, direction, names) : [{ text: '' }];
    return peerMatches.flatMap((peer) =>
      portMatches.flatMap((port) => {
        if (peer.family && port.family && peer.family !== port.family) return [];
        return [peer.text, port.text, 'accept'].filter((text) => text !== '').join(' ');
      }),
    );
  });
}

function renderPeers(
  { pods, blocks }: NonNullable<PolicyRule['peers']>,
  direction: Direction,
  names: SetNames,
): readonly Match[] {
  return families.flatMap((family) => {
    const address = `${headerOf(family)} ${direction === 'ingress' ? 'saddr' : 'daddr'}`;
    return [
      ...pods.map((peer) => ({ family, text: `${address} @${names.peers(peer, family)}` })),
      ...renderBlocks(blocks, family, address),
    ];
  });
}

function renderBlocks(blocks: readonly BlockPeer[], family: Family, address: string): readonly Match[] {
  const own = blocks.filter(({ cidr }) => cidr.address.family === family);
  const whole = removeNested(own.flatMap(({ cidr, except }) => (except.length === 0 ? [cidr] : [])));
  const matches: Match[] = [];
  if (whole.length > 0) matches.push({ family, text: matchPrefixes(address, whole, family) });
  for (const { cidr, except } of own) {
    const inside = except.filter((each) => each.address.family === family);
    if (except.length === 0 || inside.some((each) => containsPrefix(each, cidr))) continue;
    const without = inside.length === 0 ? '' : ` ${address} != ${prefixSet(inside)}`;
    matches.push({ family, text: `${matchPrefixes(address, [cidr], family)}${without}` });
  }
  return matches;
}

function matchPrefixes(address: string, prefixes: readonly Prefix[], family: Family): string {
  if (prefixes.some(({ length }) => length === 0)) return `meta nfproto ipv${family}`;
  return `${address} ${prefixSet(prefixes)}`;
}

function prefixSet(prefixes: readonly Prefix[]): string {
  return `{ ${prefixes.map(formatPrefix).join(', ')} }`;
}

function renderPorts(ports: readonly PortMatch[], direction: Direction, names: SetNames): readonly Match[] {
  const matches: Match[] = [];
  for (const [protocol, all] of Map.groupBy(ports, (each) => each.protocol)) {
    const ranges = mergeRanges(all.flatMap((each) => ('name' in each ? [] : [each])));
    if (ranges.some(({ from, to }) => from === 0 && to === 65_535)) {
      matches.push({ text: `meta l4proto ${headerOfProtocol(protocol)}` });
    } else if (ranges.length > 0) {
      const list = ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
      matches.push({ text: `${headerOfProtocol(protocol)} dport { ${list} }` });
    }
    for (const port of all) {
      if (!('name' in port)) continue;
      for (const family of families) {
        const key = `${headerOf(family)} daddr . ${headerOfProtocol(protocol)} dport`;
        matches.push({ family, text: `${key} @${names.ports(port, direction, family)}` });
      }
    }
  }
  return matches;
}

type Range = { readonly from: number; readonly to: number };

/** Merges overlapping and adjacent ranges; nftables rejects overlapping ones. */
function mergeRanges(ranges: readonly Range[]): readonly Range[] {
  const merged: Range[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && from <= last.to + 1) merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else merged.push({ from, to });
  }
  return merged;
}

function headerOfProtocol(protocol: Protocol): string {
  return protocol.toLowerCase();
}
