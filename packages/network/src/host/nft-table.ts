/**
 * Desired contents of one nftables table, and the transactions that bring the kernel there. Only what was touched is
 * compared, so that the cost of a transaction is the size of the change, whatever the size of the table.
 *
 * A chain without a hook is immutable: its name contains a digest of its rules (`contentName`). Therefore a listing of
 * names shows a restarted process which chains are right.
 */
import { createHash } from 'node:crypto';

/** A base chain has a hook: `type filter hook forward priority filter; policy accept;`. */
export type Chain = { readonly hook?: string; readonly rules: readonly string[] };

/** Type of a set or a map: `type ipv4_addr; flags interval;`. */
export type SetDeclaration = { readonly kind: 'set' | 'map'; readonly declaration: string };

export type NftTable = {
  /** Adds or replaces a chain. */
  putChain(name: string, chain: Chain): void;
  removeChain(name: string): void;
  putSet(name: string, declaration: SetDeclaration): void;
  removeSet(name: string): void;
  /** Adds an element to a set, or to a map with its verdict. */
  putElement(set: string, key: string, verdict?: string): void;
  removeElement(set: string, key: string): void;
  /**
   * Returns the transaction from what the kernel has to what it should have; undefined if there is nothing to do. The
   * script is atomic. The cleanup is a transaction of its own: kernels before 6.2 release a chain only when the
   * transaction that removed its last use has been committed.
   */
  nextTransaction(): Transaction | undefined;
  /** Makes the next transaction replace the table, atomically. */
  replaceAll(): void;
  /** Takes over the table as an earlier process left it; what is right there is not written again. */
  adopt(listing: TableListing): void;
  /** Compares the structure of the kernel's table with what was written. */
  isIntact(listing: TableListing): boolean;
  /** Returns the number of elements of all sets and maps. */
  elementCount(): number;
};

export type Transaction = {
  readonly script: string;
  readonly cleanup: string;
  readonly isReplacement: boolean;
  /** Records that the script was committed. */
  committed(): void;
  /** Records that the cleanup was committed. */
  cleaned(): void;
};

/** Contents of a table in the kernel. */
export type TableListing = {
  /** Number of rules by chain. */
  readonly chains: ReadonlyMap<string, number>;
  readonly sets: ReadonlyMap<string, ReadonlyMap<string, string>>;
};

type Elements = Map<string, string>;
type DesiredSet = SetDeclaration & { readonly elements: Elements };

/** Elements of one command: longer lines would exceed the receive buffer of the kernel's socket. */
const maxElementsPerCommand = 500;

/** Returns a name with a digest of the content that it names. */
export function contentName(prefix: string, content: readonly string[]): string {
  return `${prefix}-${createHash('sha256').update(content.join('\n')).digest('hex').slice(0, 16)}`;
}

/** Creates an empty table, for example `inet kruise-policy`. */
export function createNftTable(table: string): NftTable {
  const chains = new Map<string, Chain>();
  const sets = new Map<string, DesiredSet>();
  /** Chains in the kernel; base chains that an earlier process wrote have unknown rules. */
  let programmedChains = new Map<string, Chain | 'unknown'>();
  let programmedSets = new Map<string, Elements>();
  let touchedChains = new Set<string>();
  let touchedSets = new Map<string, Set<string>>();
  let isReplacementDue = true;

  const touch = (set: string, key?: string) => {
    let keys = touchedSets.get(set);
    if (!keys) touchedSets.set(set, (keys = new Set()));
    if (key !== undefined) keys.add(key);
  };
  const elementText = (key: string, verdict: string) => (verdict === '' ? key : `${key} : ${verdict}`);
  function* elementCommands(verb: string, set: string, elements: readonly string[]): Generator<string> {
    for (let start = 0; start < elements.length; start += maxElementsPerCommand) {
      const part = elements.slice(start, start + maxElementsPerCommand);
      yield `${verb} element ${table} ${set} { ${part.join(', ')} }`;
    }
  }
  const declareSet = (name: string, { kind, declaration }: SetDeclaration) =>
    `add ${kind} ${table} ${name} { ${declaration} }`;
  const declareChain = (name: string, { hook }: Chain) => `add chain ${table} ${name}${hook ? ` { ${hook} }` : ''}`;
  const addRules = (name: string, { rules }: Chain) => rules.map((rule) => `add rule ${table} ${name} ${rule}`);
  const script = (lines: readonly string[]) => (lines.length === 0 ? '' : `${lines.join('\n')}\n`);

  function replacement(): Transaction {
    const lines = [`add table ${table}`, `delete table ${table}`, `add table ${table}`];
    for (const [name, set] of sets) lines.push(declareSet(name, set));
    for (const [name, chain] of chains) lines.push(declareChain(name, chain));
    for (const [name, chain] of chains) lines.push(...addRules(name, chain));
    for (const [name, { elements }] of sets) {
      lines.push(
        ...elementCommands(
          'add',
          name,
          [...elements].map(([key, verdict]) => elementText(key, verdict)),
        ),
      );
    }
    const written = {
      chains: new Map<string, Chain | 'unknown'>(chains),
      sets: new Map([...sets].map(([name, { elements }]) => [name, new Map(elements)])),
    };
    touchedChains = new Set();
    touchedSets = new Map();
    return {
      script: script(lines),
      cleanup: '',
      isReplacement: true,
      committed() {
        programmedChains = written.chains;
        programmedSets = written.sets;
        isReplacementDue = false;
      },
      cleaned() {},
    };
  }

  function incremental(): Transaction | undefined {
    const declarations: string[] = [];
    const rules: string[] = [];
    const elements: string[] = [];
    const deletedChains: string[] = [];
    const deletedSets: string[] = [];
    const apply: (() => void)[] = [];
    for (const name of touchedChains) {
      const wanted = chains.get(name);
      const present = programmedChains.get(name);
      if (!wanted) {
        if (present) deletedChains.push(name);
        continue;
      }
      if (present && present !== 'unknown' && isSameChain(present, wanted)) continue;
      if (!present || present === 'unknown') declarations.push(declareChain(name, wanted));
      if (present) rules.push(`flush chain ${table} ${name}`);
      rules.push(...addRules(name, wanted));
      apply.push(() => programmedChains.set(name, wanted));
    }
    for (const [name, keys] of touchedSets) {
      const wanted = sets.get(name);
      const present = programmedSets.get(name);
      if (!wanted) {
        if (present) deletedSets.push(name);
        continue;
      }
      if (!present) declarations.push(declareSet(name, wanted));
      const added: (readonly [key: string, verdict: string])[] = [];
      const removed: string[] = [];
      for (const key of present ? keys : wanted.elements.keys()) {
        const verdict = wanted.elements.get(key);
        const before = present?.get(key);
        if (verdict === before) continue;
        if (before !== undefined) removed.push(key);
        if (verdict !== undefined) added.push([key, verdict]);
      }
      elements.push(...elementCommands('delete', name, removed));
      elements.push(
        ...elementCommands(
          'add',
          name,
          added.map(([key, verdict]) => elementText(key, verdict)),
        ),
      );
      apply.push(() => {
        const after: Elements = present ?? new Map();
        for (const key of removed) after.delete(key);
        for (const [key, verdict] of added) after.set(key, verdict);
        programmedSets.set(name, after);
      });
    }
    touchedChains = new Set();
    touchedSets = new Map();
    const lines = [...declarations, ...rules, ...elements];
    const cleanup = [
      ...deletedChains.map((name) => `flush chain ${table} ${name}`),
      ...deletedChains.map((name) => `delete chain ${table} ${name}`),
      ...deletedSets.map((name) => `delete set ${table} ${name}`),
    ];
    if (lines.length === 0 && cleanup.length === 0) return undefined;
    return {
      script: script(lines),
      cleanup: script(cleanup),
      isReplacement: false,
      committed() {
        for (const each of apply) each();
      },
      cleaned() {
        for (const name of deletedChains) programmedChains.delete(name);
        for (const name of deletedSets) programmedSets.delete(name);
      },
    };
  }

  return {
    putChain(name, chain) {
      chains.set(name, chain);
      touchedChains.add(name);
    },
    removeChain(name) {
      chains.delete(name);
      touchedChains.add(name);
    },
    putSet(name, declaration) {
      sets.set(name, { ...declaration, elements: new Map() });
      touch(name);
      // A set that is removed and created again before the cleanup still has its elements in the kernel.
      for (const key of programmedSets.get(name)?.keys() ?? []) touch(name, key);
    },
    removeSet(name) {
      sets.delete(name);
      touch(name);
    },
    putElement(set, key, verdict = '') {
      const found = sets.get(set);
      if (!found) throw new Error(`no such set: ${set}`);
      found.elements.set(key, verdict);
      touch(set, key);
    },
    removeElement(set, key) {
      sets.get(set)?.elements.delete(key);
      touch(set, key);
    },
    nextTransaction: () => (isReplacementDue ? replacement() : incremental()),
    replaceAll() {
      isReplacementDue = true;
    },
    adopt(listing) {
      isReplacementDue = false;
      programmedChains = new Map();
      for (const [name, ruleCount] of listing.chains) {
        const wanted = chains.get(name);
        const isRight = wanted && !wanted.hook && wanted.rules.length === ruleCount;
        programmedChains.set(name, isRight ? wanted : 'unknown');
        touchedChains.add(name);
      }
      programmedSets = new Map([...listing.sets].map(([name, elements]) => [name, new Map(elements)]));
      for (const name of chains.keys()) touchedChains.add(name);
      for (const [name, { elements }] of sets) for (const key of elements.keys()) touch(name, key);
      for (const [name, elements] of listing.sets) {
        touch(name);
        for (const key of elements.keys()) touch(name, key);
      }
    },
    isIntact(listing) {
      const isChainIntact = ([name, chain]: [string, Chain | 'unknown']) =>
        chain === 'unknown' ? listing.chains.has(name) : listing.chains.get(name) === chain.rules.length;
      return (
        [...programmedChains].every(isChainIntact) && [...programmedSets.keys()].every((name) => listing.sets.has(name))
      );
    },
    elementCount: () => [...sets.values()].reduce((sum, { elements }) => sum + elements.size, 0),
  };
}

function isSameChain(a: Chain, b: Chain): boolean {
  return a.hook === b.hook && a.rules.length === b.rules.length && a.rules.every((rule, at) => rule === b.rules[at]);
}

/** Reads the output of `nft -j list table`. Throws if it has elements of unknown form. */
export function parseListing(json: string): TableListing {
  const { nftables = [] } = JSON.parse(json) as { readonly nftables?: readonly ListedObject[] };
  const chains = new Map<string, number>();
  const sets = new Map<string, Map<string, string>>();
  for (const { chain, rule, set, map } of nftables) {
    if (chain) chains.set(chain.name, 0);
    if (rule) chains.set(rule.chain, (chains.get(rule.chain) ?? 0) + 1);
    const named = set ?? map;
    if (named) sets.set(named.name, new Map((named.elem ?? []).map(readElement)));
  }
  return { chains, sets };
}

type ListedObject = {
  readonly chain?: { readonly name: string };
  readonly rule?: { readonly chain: string };
  readonly set?: ListedSet;
  readonly map?: ListedSet;
};
type Verdict = { readonly target?: string } | null;
type ListedSet = { readonly name: string; readonly elem?: readonly unknown[] };

function readElement(element: unknown): [key: string, verdict: string] {
  if (!Array.isArray(element)) return [keyText(element), ''];
  const [key, verdict]: readonly unknown[] = element;
  // A verdict is an object with one field: `{ "goto": { "target": "chain" } }`.
  const [[action, details] = ['', null]] = Object.entries((verdict ?? {}) as Readonly<Record<string, Verdict>>);
  return [keyText(key), details?.target === undefined ? action : `${action} ${details.target}`];
}

function keyText(key: unknown): string {
  if (typeof key === 'string' || typeof key === 'number') return String(key);
  const { concat, prefix } = key as {
    readonly concat?: readonly unknown[];
    readonly prefix?: { readonly addr: string; readonly len: number };
  };
  if (concat) return concat.map(keyText).join(' . ');
  if (prefix) return `${prefix.addr}/${prefix.len}`;
  throw new Error(`unknown element of an nftables set: ${JSON.stringify(key)}`);
}
