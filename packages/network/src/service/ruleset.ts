/**
 * Desired and installed rules. Each Service owns a fragment: chains of its own, and entries in the chains or maps that
 * all Services share. What differs from the installed rules is found per fragment, so that the work of a change does
 * not depend on the number of Services.
 */

/** An entry of a shared chain or map. */
export type Entry = { readonly container: string; readonly key: string; readonly value: string };

/** A chain with its rules. The digest identifies the rules where the kernel prints them in another form. */
export type Chain = { readonly name: string; readonly rules: readonly string[]; readonly digest: string };

/** Rules of one owner. The names of its chains and sets are unique to the owner. */
export type Fragment = {
  readonly chains: readonly Chain[];
  readonly entries: readonly Entry[];
  /** Named sets that the rules of the chains use. */
  readonly sets: readonly string[];
};

/** Rules in the kernel: digests of chains, entries by container, names of sets. */
export type InstalledRules = {
  readonly chains: ReadonlyMap<string, string>;
  readonly entries: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly sets: ReadonlySet<string>;
};

/** Differences between the desired and the installed rules. */
export type RuleChanges = {
  readonly addedChains: readonly Chain[];
  readonly changedChains: readonly Chain[];
  readonly staleChains: readonly string[];
  readonly addedSets: readonly string[];
  readonly staleSets: readonly string[];
  /** Entries to delete, with the installed value. An entry with another value is deleted and added. */
  readonly deletedEntries: readonly Entry[];
  readonly addedEntries: readonly Entry[];
};

export const emptyFragment: Fragment = { chains: [], entries: [], sets: [] };
export const noRules: InstalledRules = { chains: new Map(), entries: new Map(), sets: new Set() };

export type Ruleset = {
  /** Replaces the desired rules of an owner. */
  replace(owner: string, fragment: Fragment): void;
  /** Assumes that the kernel has these rules; all desired rules are compared with them. */
  assume(installed: InstalledRules): void;
  /**
   * Takes the differences. The caller makes the changes and commits them, or reads the installed rules again and calls
   * `assume`.
   */
  takeChanges(): RuleChanges;
  /** Records that the changes have been made. */
  commit(changes: RuleChanges): void;
  /** Number of desired rules. */
  readonly size: { readonly rules: number; readonly entries: number; readonly chains: number };
};

/** Creates a ruleset without any rules. */
export function createRuleset(): Ruleset {
  const fragments = new Map<string, Fragment>();
  const chains = new Map<string, Chain>();
  const sets = new Set<string>();
  // Two owners may claim one entry, for example the same external IP. The first by name gets it.
  const claims = new Map<string, Map<string, readonly Claim[]>>();
  let installedChains = new Map<string, string>();
  let installedEntries = new Map<string, Map<string, string>>();
  let installedSets = new Set<string>();
  let dirtyChains = new Set<string>();
  let dirtySets = new Set<string>();
  let dirtyEntries = new Map<string, Set<string>>();
  let rules = 0;
  let entryCount = 0;

  const markEntry = (container: string, key: string) => {
    const keys = dirtyEntries.get(container) ?? new Set();
    dirtyEntries.set(container, keys.add(key));
  };
  const unclaim = (owner: string, { container, key }: Entry) => {
    const ofContainer = claims.get(container);
    const others = (ofContainer?.get(key) ?? []).filter((claim) => claim.owner !== owner);
    if (others.length > 0) ofContainer?.set(key, others);
    else {
      ofContainer?.delete(key);
      entryCount--;
    }
    markEntry(container, key);
  };
  const claim = (owner: string, { container, key, value }: Entry) => {
    const ofContainer = claims.get(container) ?? new Map<string, readonly Claim[]>();
    claims.set(container, ofContainer);
    const others = (ofContainer.get(key) ?? []).filter((each) => each.owner !== owner);
    if (!ofContainer.has(key)) entryCount++;
    const all = [...others, { owner, value }];
    ofContainer.set(key, all.length > 1 ? all.sort((a, b) => (a.owner < b.owner ? -1 : 1)) : all);
    markEntry(container, key);
  };

  return {
    replace(owner, fragment) {
      const before = fragments.get(owner) ?? emptyFragment;
      const kept = new Set(fragment.entries.map(entryId));
      const known = new Set(before.entries.map(entryId));
      for (const entry of before.entries) if (!kept.has(entryId(entry))) unclaim(owner, entry);
      for (const entry of fragment.entries) if (!known.has(entryId(entry))) claim(owner, entry);
      for (const chain of before.chains) {
        rules -= chain.rules.length;
        chains.delete(chain.name);
        dirtyChains.add(chain.name);
      }
      for (const chain of fragment.chains) {
        rules += chain.rules.length;
        chains.set(chain.name, chain);
        dirtyChains.add(chain.name);
      }
      for (const name of before.sets) {
        sets.delete(name);
        dirtySets.add(name);
      }
      for (const name of fragment.sets) {
        sets.add(name);
        dirtySets.add(name);
      }
      if (fragment === emptyFragment) fragments.delete(owner);
      else fragments.set(owner, fragment);
    },
    assume(installed) {
      installedChains = new Map(installed.chains);
      installedEntries = new Map([...installed.entries].map(([container, entries]) => [container, new Map(entries)]));
      installedSets = new Set(installed.sets);
      dirtyChains = new Set([...chains.keys(), ...installedChains.keys()]);
      dirtySets = new Set([...sets, ...installedSets]);
      dirtyEntries = new Map();
      for (const all of [claims, installedEntries]) {
        for (const [container, entries] of all) for (const key of entries.keys()) markEntry(container, key);
      }
    },
    takeChanges() {
      const changes = {
        addedChains: [] as Chain[],
        changedChains: [] as Chain[],
        staleChains: [] as string[],
        addedSets: [...dirtySets].filter((name) => sets.has(name) && !installedSets.has(name)),
        staleSets: [...dirtySets].filter((name) => !sets.has(name) && installedSets.has(name)),
        deletedEntries: [] as Entry[],
        addedEntries: [] as Entry[],
      };
      for (const name of dirtyChains) {
        const desired = chains.get(name);
        const digest = installedChains.get(name);
        if (!desired) {
          if (digest !== undefined) changes.staleChains.push(name);
        } else if (digest === undefined) changes.addedChains.push(desired);
        else if (digest !== desired.digest) changes.changedChains.push(desired);
      }
      for (const [container, keys] of dirtyEntries) {
        const desired = claims.get(container);
        const installed = installedEntries.get(container);
        for (const key of keys) {
          const value = desired?.get(key)?.[0]?.value;
          const old = installed?.get(key);
          if (value === old) continue;
          if (old !== undefined) changes.deletedEntries.push({ container, key, value: old });
          if (value !== undefined) changes.addedEntries.push({ container, key, value });
        }
      }
      dirtyChains = new Set();
      dirtySets = new Set();
      dirtyEntries = new Map();
      return changes;
    },
    commit(changes) {
      for (const { name, digest } of [...changes.addedChains, ...changes.changedChains]) {
        installedChains.set(name, digest);
      }
      for (const name of changes.staleChains) installedChains.delete(name);
      for (const name of changes.addedSets) installedSets.add(name);
      for (const name of changes.staleSets) installedSets.delete(name);
      for (const { container, key } of changes.deletedEntries) installedEntries.get(container)?.delete(key);
      for (const { container, key, value } of changes.addedEntries) {
        const entries = installedEntries.get(container) ?? new Map<string, string>();
        installedEntries.set(container, entries.set(key, value));
      }
    },
    get size() {
      return { rules, entries: entryCount, chains: chains.size };
    },
  };
}

/** Reports whether there is nothing to change. */
export function isEmpty(changes: RuleChanges): boolean {
  return Object.values(changes).every((list) => list.length === 0);
}

type Claim = { readonly owner: string; readonly value: string };

function entryId({ container, key, value }: Entry): string {
  return `${container}\n${key}\n${value}`;
}
