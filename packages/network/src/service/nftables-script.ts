/** Scripts for `nft -f -`, and the rules that `nft list table` prints. */
import { affinityPrefix, type NftOptions, nftFamily, nftSkeleton, nftTable } from './nftables.ts';
import type { Chain, Entry, InstalledRules, RuleChanges } from './ruleset.ts';

/** Chains and sets that are no longer used; the kernel may delete them only after the rules that named them. */
export type StaleNames = { readonly chains: readonly string[]; readonly sets: readonly string[] };

/** Returns the transaction that makes the changes. Stale chains become empty, to be deleted in a later transaction. */
export function nftTransaction(changes: RuleChanges, { family }: NftOptions): readonly string[] {
  const at = `${nftFamily(family)} ${nftTable}`;
  const flushed = [...changes.changedChains.map(({ name }) => name), ...changes.staleChains];
  return [
    ...elementCommands('delete', at, changes.deletedEntries, ({ key }) => key),
    ...changes.addedChains.map(({ name }) => `add chain ${at} ${name}`),
    ...changes.addedSets.map(
      (name) => `add set ${at} ${name} { type ${addressType(family)} ; flags dynamic,timeout ; size 65535 ; }`,
    ),
    // A stale chain of an earlier transaction may come back; it still exists, and `add chain` keeps it.
    ...changes.addedChains.map(({ name }) => `flush chain ${at} ${name}`),
    ...flushed.map((name) => `flush chain ${at} ${name}`),
    ...[...changes.addedChains, ...changes.changedChains].flatMap((chain) => ruleCommands(at, chain)),
    ...elementCommands('add', at, changes.addedEntries, ({ key, value }) => (value === '' ? key : `${key} : ${value}`)),
  ];
}

/** Returns the transaction that deletes what is stale since an earlier transaction. */
export function nftDeletion({ chains, sets }: StaleNames, { family }: NftOptions): readonly string[] {
  const at = `${nftFamily(family)} ${nftTable}`;
  return [...chains.map((name) => `delete chain ${at} ${name}`), ...sets.map((name) => `delete set ${at} ${name}`)];
}

/** Returns the transaction that replaces the whole table. */
export function nftReplacement(changes: RuleChanges, options: NftOptions): readonly string[] {
  const at = `${nftFamily(options.family)} ${nftTable}`;
  return [`add table ${at}`, `delete table ${at}`, ...nftSkeleton(options), ...nftTransaction(changes, options)];
}

function addressType(family: NftOptions['family']): string {
  return family === 'IPv4' ? 'ipv4_addr' : 'ipv6_addr';
}

function ruleCommands(at: string, { name, rules, digest }: Chain): readonly string[] {
  return rules.map((rule, index) => `add rule ${at} ${name} ${rule}${index === 0 ? ` comment "${digest}"` : ''}`);
}

function elementCommands(
  command: 'add' | 'delete',
  at: string,
  entries: readonly Entry[],
  textOf: (entry: Entry) => string,
): readonly string[] {
  const byContainer = Map.groupBy(entries, ({ container }) => container);
  return [...byContainer].map(
    ([container, all]) => `${command} element ${at} ${container} { ${all.map(textOf).join(', ')} }`,
  );
}

const protocolNames = new Map([
  ['6', 'tcp'],
  ['17', 'udp'],
  ['132', 'sctp'],
]);

/** Parses the output of `nft -nn list table`. */
export function parseNftTable(text: string): InstalledRules {
  const chains = new Map<string, string>();
  const entries = new Map<string, Map<string, string>>();
  const sets = new Set<string>();
  let chain: { readonly name: string; digest: string; rules: number } | undefined;
  let elements: Map<string, string> | undefined;
  let isAffinity = false;
  let inElements = false;

  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    const block = /^\t(chain|set|map) (\S+) \{/.exec(line);
    if (block) {
      const [, kind, name = ''] = block;
      chain = kind === 'chain' ? { name, digest: '', rules: 0 } : undefined;
      isAffinity = kind === 'set' && name.startsWith(affinityPrefix);
      if (isAffinity) sets.add(name);
      elements = kind === 'chain' || isAffinity ? undefined : new Map();
      if (elements) entries.set(name, elements);
    } else if (line === '\t}') {
      if (chain) {
        // The digest holds the number of rules: a chain with another number was changed by others.
        const isWhole = chain.digest === '' ? chain.rules === 0 : chain.digest.endsWith(`/${chain.rules}`);
        chains.set(chain.name, isWhole ? chain.digest : 'changed');
      }
      chain = undefined;
      elements = undefined;
      inElements = false;
    } else if (chain) {
      if (trimmed === '' || /^(type|comment) /.test(trimmed)) continue;
      if (chain.rules === 0) chain.digest = /comment "([A-Z2-7]{16}\/\d+)"$/.exec(trimmed)?.[1] ?? 'changed';
      chain.rules++;
    } else if (elements || isAffinity) {
      let rest = trimmed;
      if (rest.startsWith('elements = {')) {
        inElements = true;
        rest = rest.slice('elements = {'.length);
      }
      if (!inElements || isAffinity) continue;
      for (const element of rest.replace(/\}$/, '').split(',')) {
        const [key = '', value = ''] = element.trim().split(/ : /);
        if (key !== '') elements?.set(canonicalKey(key), value);
      }
      if (rest.endsWith('}')) inElements = false;
    }
  }
  return { chains, entries, sets };
}

/** Protocols are printed as numbers: not every machine knows their names. */
function canonicalKey(key: string): string {
  const parts = key.split(' . ');
  const index = parts.length === 3 ? 1 : parts.length === 2 && protocolNames.has(parts[0]!) ? 0 : -1;
  return parts.map((part, at) => (at === index ? (protocolNames.get(part) ?? part) : part)).join(' . ');
}
