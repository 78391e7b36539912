/** Input of `iptables-restore --noflush`, and the rules that `iptables-save` prints. */
import { dispatchChains, type IptablesTable, iptablesJumps, iptablesTables, lastRuleKey } from './iptables.ts';
import { digestOf } from './names.ts';
import type { Entry, InstalledRules, RuleChanges } from './ruleset.ts';
import type { IPFamily } from './service-port.ts';

/** Installed rules, and the shared chains that exist. */
export type InstalledIptables = InstalledRules & { readonly dispatch: ReadonlySet<string> };

/** Returns the input that makes the changes; each table changes at once. */
export function iptablesTransaction(changes: RuleChanges, existing: ReadonlySet<string>): string {
  const texts = iptablesTables.map((table) => tableText(table, changes, existing));
  return texts.filter((text) => text !== '').join('');
}

/** Maximum number of chains, and of rules of a shared chain, in one transaction of `iptablesBatches`. */
const batchSize = 500;

const noChanges: RuleChanges = {
  addedChains: [],
  changedChains: [],
  staleChains: [],
  addedSets: [],
  staleSets: [],
  deletedEntries: [],
  addedEntries: [],
};

/**
 * Returns the input that makes the changes for iptables on nf_tables, which searches a list of all chains that a
 * transaction names, for each line of its input. Many new chains are therefore written before, in several
 * transactions. No rule refers to them yet, so packets see all changes of a table at once as well.
 */
export function iptablesBatches(changes: RuleChanges, existing: ReadonlySet<string>): string {
  if (changes.addedChains.length <= batchSize) return iptablesTransaction(changes, existing);
  // In the order of names, chains are found in memory in the order in which they are searched.
  const chains = changes.addedChains.toSorted(
    (a, b) => levelOf(a.name) - levelOf(b.name) || (a.name < b.name ? -1 : 1),
  );
  const texts = chunksOf(chains).map((addedChains) =>
    iptablesTransaction({ ...noChanges, addedChains }, dispatchChains),
  );
  const isEarly = ({ container, key }: Entry) =>
    dispatchChains.has(container) && !existing.has(container) && !isLast(key);
  const early = Map.groupBy(changes.addedEntries.filter(isEarly), ({ container }) => container);
  for (const [container, entries] of early) {
    const [table = '', chain = ''] = container.split(' ');
    texts.push(`*${table}\n:${chain} - [0:0]\nCOMMIT\n`);
    for (const chunk of chunksOf(entries)) {
      texts.push(`*${table}\n${chunk.map(({ value }) => `-A ${chain} ${value}`).join('\n')}\nCOMMIT\n`);
    }
  }
  const addedEntries = changes.addedEntries.filter((entry) => !isEarly(entry));
  const rest = { ...changes, addedChains: [], addedEntries };
  return [...texts, iptablesTransaction(rest, new Set([...existing, ...early.keys()]))].join('');
}

/** A chain has jumps only to chains of lower levels. */
const levels = [/ KUBE-SEP-/, / KUBE-SV[CL]-/, / KUBE-EXT-/, / KUBE-FW-/];

function levelOf(name: string): number {
  return levels.findIndex((pattern) => pattern.test(name));
}

function chunksOf<T>(all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / batchSize) }, (_, index) =>
    all.slice(index * batchSize, (index + 1) * batchSize),
  );
}

function tableText(table: IptablesTable, changes: RuleChanges, existing: ReadonlySet<string>): string {
  const inTable = (name: string) => name.startsWith(`${table} `);
  const chainOf = (name: string) => name.slice(table.length + 1);
  const written = [...changes.addedChains, ...changes.changedChains].filter(({ name }) => inTable(name));
  const stale = changes.staleChains.filter(inTable);
  const missing = [...dispatchChains].filter((name) => inTable(name) && !existing.has(name));
  const deleted = changes.deletedEntries.filter(({ container }) => inTable(container));
  // The rule at the end of a new chain is appended after the others; later rules are inserted before it.
  const added = changes.addedEntries.filter(({ container }) => inTable(container)).sort(byLast);
  const lines = [
    // A declaration creates the chain or removes its rules.
    ...[...missing, ...written.map(({ name }) => name), ...stale].map((name) => `:${chainOf(name)} - [0:0]`),
    ...deleted.map(({ container, value }) => `-D ${chainOf(container)} ${value}`),
    ...written.flatMap(({ name, rules }) => rules.map((rule) => `-A ${chainOf(name)} ${rule}`)),
    ...added.map((entry) => `${isAppended(entry, existing) ? '-A' : '-I'} ${chainOf(entry.container)} ${entry.value}`),
    ...stale.map((name) => `-X ${chainOf(name)}`),
  ];
  return lines.length === 0 ? '' : `*${table}\n${lines.join('\n')}\nCOMMIT\n`;
}

function isAppended({ container, key }: Entry, existing: ReadonlySet<string>): boolean {
  if (!dispatchChains.has(container)) return false;
  return !existing.has(container) || isLast(key);
}

function byLast(a: Entry, b: Entry): number {
  return Number(isLast(a.key)) - Number(isLast(b.key));
}

function isLast(key: string): boolean {
  return key.startsWith(lastRuleKey);
}

/** Returns the input that removes all rules of kube-proxy. */
export function iptablesCleanup(installed: InstalledIptables): string {
  const chains = [...installed.chains.keys(), ...installed.dispatch];
  const parts = iptablesTables.map((table) => {
    const own = chains.filter((name) => name.startsWith(`${table} `)).map((name) => name.slice(table.length + 1));
    const jumps = [...installed.entries]
      .filter(([container]) => container.startsWith(`${table} `) && !dispatchChains.has(container))
      .flatMap(([container, entries]) =>
        [...entries.values()].map((rule) => `-D ${container.slice(table.length + 1)} ${rule}`),
      );
    if (own.length === 0 && jumps.length === 0) return '';
    const lines = [...own.map((name) => `:${name} - [0:0]`), ...jumps, ...own.map((name) => `-X ${name}`)];
    return `*${table}\n${lines.join('\n')}\nCOMMIT\n`;
  });
  return parts.join('');
}

const ownChain = /^KUBE-(?:(?:SVC|SVL|EXT|FW|SEP)-[A-Z2-7]{16}|MARK-MASQ|POSTROUTING|FORWARD|FIREWALL|PROXY-CANARY)$/;

/** Parses the output of `iptables-save`; rules of others are left out. */
export function parseIptablesSave(text: string, family: IPFamily): InstalledIptables {
  const rules = new Map<string, string[]>();
  const entries = new Map<string, Map<string, string>>();
  const dispatch = new Set<string>();
  const jumps = new Set(
    iptablesJumps({ family, localhostNodePorts: true }).map(({ container, value }) => `${container} ${value}`),
  );
  let table = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('*')) table = line.slice(1);
    else if (line.startsWith(':')) {
      const chain = line.slice(1).split(' ')[0] ?? '';
      const name = `${table} ${chain}`;
      if (dispatchChains.has(name)) dispatch.add(name);
      else if (ownChain.test(chain)) rules.set(name, []);
    } else if (line.startsWith('-A ')) {
      const end = line.indexOf(' ', 3);
      const name = `${table} ${line.slice(3, end)}`;
      const rule = line.slice(end + 1);
      const own = rules.get(name);
      if (own) own.push(rule);
      else if (dispatchChains.has(name) || jumps.has(`${name} ${rule}`)) {
        const all = entries.get(name) ?? new Map<string, string>();
        entries.set(name, all);
        addRule(all, dispatchChains.has(name) ? keyOf(rule, all) : rule, rule);
      }
    }
  }
  const chains = new Map([...rules].map(([name, all]) => [name, all.length === 0 ? '' : digestOf(all)]));
  return { chains, entries, sets: new Set(), dispatch };
}

/** A second rule of one destination is a leftover; its own text as the key makes it stale. */
function addRule(all: Map<string, string>, key: string, rule: string): void {
  all.set(all.has(key) ? rule : key, rule);
}

function keyOf(rule: string, all: ReadonlyMap<string, string>): string {
  if (rule.endsWith('-j KUBE-NODEPORTS')) {
    const count = [...all.keys()].filter(isLast).length;
    return `${lastRuleKey}${count}`;
  }
  const [, destination] = /^-d (\S+)/.exec(rule) ?? [];
  const [, protocol] = /-p (\w+)/.exec(rule) ?? [];
  const [, port] = /--dport (\d+)/.exec(rule) ?? [];
  if (destination !== undefined) return `${destination} ${protocol} ${port}`;
  return rule.includes('--dst-type LOCAL') ? `nodeport ${protocol} ${port}` : `${protocol} ${port}`;
}
